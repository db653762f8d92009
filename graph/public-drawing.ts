// Finds the credentials in a drawing, also for exported files (`graph/exported-drawing.ts`) and the tools of assistants
// (`graph/building/apply-changes.ts`), and removes them from copies and public examples.
import { actionOfTool, holdsLiteral, isCredentialField } from './actions/action.js';
import { addressSecretTexts, areOnlyVariables, joinAddress, splitAddress } from './address-credentials.js';
import { credentialLiteralsOf, isCredentialHeader } from './credential-headers.js';
import { mapConnections } from './connections.js';
import { isEmpty, isObject, type JsonObject } from './json.js';
import { isSecretField, mapArray, mapObject, SECRET_FIELDS, secretStrings } from './secrets.js';

interface PublicDrawing {
  drawing: JsonObject;
  /**
   * The literal credentials of headers, addresses and values of actions, without variables. Callers must mask them
   * wherever else they occur.
   */
  literals: string[];
}

/**
 * Returns a copy of the drawing with `replacement` for the defaults of secret fields, the values of credential headers
 * and of actions' credential fields, and the credentials in addresses. Removes connections, because they belong to the
 * original project.
 */
export function replaceCredentials(drawing: JsonObject, replacement: string): PublicDrawing {
  const literals: string[] = [];
  const mapped = mapCredentials(drawing, (value, { kind }) => {
    literals.push(...literalsOf(value, kind));
    return replacement;
  });
  return { drawing: mapConnections(mapped, () => undefined), literals };
}

export interface CredentialPlace {
  node: JsonObject;
  /** The name of a header, the id of a field, the key of an action's value, or the field that holds an address. */
  label: string;
  /** `value`: the value of an action's field. */
  kind: 'header' | 'field' | 'address' | 'value';
}

/** Returns the literal texts of a credential that must be masked wherever else they occur: none for a secret field. */
export function literalsOf(value: unknown, kind: CredentialPlace['kind']): string[] {
  if (kind === 'field') return [];
  return secretStrings(value).flatMap(kind === 'address' ? addressSecretTexts : credentialLiteralsOf);
}

/**
 * Returns a copy of the drawing with `replace` applied to every credential that is not empty. A header or secret field
 * counts even if its value consists only of variables.
 */
export function mapCredentials(
  drawing: JsonObject,
  replace: (value: unknown, place: CredentialPlace) => unknown,
): JsonObject {
  const inHeaders = (node: JsonObject, owner: JsonObject): JsonObject =>
    mapObject(owner, 'headers', (headers) =>
      mapEntries(headers, (value, label) =>
        isEmpty(value) || !isCredentialHeader(label) ? value : replace(value, { node, label, kind: 'header' }),
      ),
    );
  const inAddress = (node: JsonObject, owner: JsonObject, label: string): JsonObject => {
    const split = splitAddress(owner[label]);
    if (split === undefined || areOnlyVariables(split.credentials)) return owner;
    const replaced = replace(split.credentials, { node, label, kind: 'address' });
    return { ...owner, [label]: joinAddress(split, String(replaced)) };
  };
  const inServer = (node: JsonObject, owner: JsonObject): JsonObject =>
    ['url', 'endpoint_url'].reduce((mapped, label) => inAddress(node, mapped, label), inHeaders(node, owner));
  const inField = (node: JsonObject, field: JsonObject): JsonObject => {
    const { id, default_value: value } = field;
    if (!isSecretField(field) || isEmpty(value)) return field;
    return { ...field, default_value: replace(value, { node, label: String(id), kind: 'field' }) };
  };
  const inValues = (node: JsonObject, owner: JsonObject, action: unknown): JsonObject =>
    mapObject(owner, 'values', (values) =>
      mapEntries(values, (value, label) =>
        isCredentialField(action, label) && holdsLiteral(value)
          ? replace(value, { node, label, kind: 'value' })
          : value,
      ),
    );
  return mapArray(drawing, 'nodes', (node) =>
    mapObject(node, 'data', (data) => {
      const withFields = SECRET_FIELDS.reduce(
        (mapped, list) => mapArray(mapped, list, (field) => inField(node, field)),
        data,
      );
      const withServer = inServer(node, withFields);
      const own = isObject(data['action']) ? inValues(node, withServer, data['action']) : withServer;
      return mapArray(own, 'tools', (tool) => {
        const action = actionOfTool(tool);
        return action === undefined ? inServer(node, tool) : inValues(node, inServer(node, tool), action);
      });
    }),
  );
}

/** `Object.fromEntries` treats `__proto__` like any other key. */
function mapEntries(object: JsonObject, map: (value: unknown, key: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}
