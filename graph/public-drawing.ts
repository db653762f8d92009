// Removes credentials from a drawing that leaves its project, as a copy or as a public example.
import { isEmpty, type JsonObject } from './json.js';
import { isSecretField, mapArray, mapObject, secretStrings } from './secrets.js';

/**
 * This rule is wider than the one inside a project, because readers of a public drawing are strangers. It covers any
 * header of any node whose name suggests a credential.
 */
const CREDENTIAL_HEADER = /auth|key|token|secret|password|credential|cookie|session|signature/i;
/** The scheme of a credential, which is not secret itself. */
const SCHEME = /^\s*(?:bearer|basic|digest|token|apikey)\s+/i;
const VARIABLE = /\{\{.*?\}\}/gs;

export interface PublicDrawing {
  drawing: JsonObject;
  /** The literal values of the credential headers, without variables. They must be hidden wherever else they occur. */
  literals: string[];
}

/**
 * Returns a copy of the drawing with `replacement` for the defaults of secret fields and the values of credential
 * headers.
 */
export function replaceCredentials(drawing: JsonObject, replacement: string): PublicDrawing {
  const literals: string[] = [];
  const withoutHeaders = (owner: JsonObject): JsonObject =>
    mapObject(owner, 'headers', (headers) =>
      mapValues(headers, (value, name) => {
        if (isEmpty(value) || !CREDENTIAL_HEADER.test(name)) return value;
        literals.push(...secretStrings(value).flatMap(literalsOf));
        return replacement;
      }),
    );
  const withoutDefault = (field: JsonObject): JsonObject =>
    isSecretField(field) && !isEmpty(field['default_value']) ? { ...field, default_value: replacement } : field;
  const mapped = mapArray(drawing, 'nodes', (node) =>
    mapObject(node, 'data', (data) => {
      const withFields = mapArray(data, 'input_fields', withoutDefault);
      return mapArray(withoutHeaders(withFields), 'tools', withoutHeaders);
    }),
  );
  return { drawing: mapped, literals };
}

function literalsOf(value: string): string[] {
  return value.split(VARIABLE).flatMap((piece) => piece.replace(SCHEME, '').trim() || []);
}

/** `Object.fromEntries` treats `__proto__` like any other key. */
function mapValues(object: JsonObject, map: (value: unknown, key: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}
