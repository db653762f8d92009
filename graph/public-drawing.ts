// Removes credentials from a drawing that leaves its project, as a copy or as a public example.
import { credentialLiteralsOf, isCredentialHeader } from './credential-headers.js';
import { mapConnections } from './connections.js';
import { isEmpty, type JsonObject } from './json.js';
import { isSecretField, mapArray, mapObject, SECRET_FIELDS, secretStrings } from './secrets.js';

interface PublicDrawing {
  drawing: JsonObject;
  /** The literal values of the credential headers, without variables. They must be hidden wherever else they occur. */
  literals: string[];
}

/**
 * Returns a copy of the drawing with `replacement` for the defaults of secret fields and the values of credential
 * headers. It names no connection: those belong to the project that it leaves.
 */
export function replaceCredentials(drawing: JsonObject, replacement: string): PublicDrawing {
  const literals: string[] = [];
  const mapped = mapCredentials(drawing, (value, { isHeader }) => {
    if (isHeader) literals.push(...secretStrings(value).flatMap(credentialLiteralsOf));
    return replacement;
  });
  return { drawing: mapConnections(mapped, () => undefined), literals };
}

/** A header or field that holds a credential. */
export interface CredentialPlace {
  node: JsonObject;
  /** The header's name, or the field's id. */
  label: string;
  isHeader: boolean;
}

/** Returns a copy of the drawing with `replace` applied to every credential that is not empty. */
export function mapCredentials(
  drawing: JsonObject,
  replace: (value: unknown, place: CredentialPlace) => unknown,
): JsonObject {
  const inHeaders = (node: JsonObject, owner: JsonObject): JsonObject =>
    mapObject(owner, 'headers', (headers) =>
      mapValues(headers, (value, label) =>
        isEmpty(value) || !isCredentialHeader(label) ? value : replace(value, { node, label, isHeader: true }),
      ),
    );
  const inField = (node: JsonObject, field: JsonObject): JsonObject => {
    const { id, default_value: value } = field;
    if (!isSecretField(field) || isEmpty(value)) return field;
    return { ...field, default_value: replace(value, { node, label: String(id), isHeader: false }) };
  };
  return mapArray(drawing, 'nodes', (node) =>
    mapObject(node, 'data', (data) => {
      const withFields = SECRET_FIELDS.reduce(
        (mapped, list) => mapArray(mapped, list, (field) => inField(node, field)),
        data,
      );
      return mapArray(inHeaders(node, withFields), 'tools', (tool) => inHeaders(node, tool));
    }),
  );
}

/** `Object.fromEntries` treats `__proto__` like any other key. */
function mapValues(object: JsonObject, map: (value: unknown, key: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}
