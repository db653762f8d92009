// A drawing that leaves its project: as a copy or as a public example. decisions, section 9.
import { isEmpty, type JsonObject } from './json.js';
import { isSecretField, mapArray, mapObject, secretStrings } from './secrets.js';

/**
 * Wider than the rule inside a project, for whoever reads this never was let in: any header whose name speaks of a
 * credential, whichever node it stands on.
 */
const CREDENTIAL_HEADER = /auth|key|token|secret|password|credential|cookie|session|signature/i;
/** Says how to read a credential; no secret itself. */
const SCHEME = /^\s*(?:bearer|basic|digest|token|apikey)\s+/i;
const VARIABLE = /\{\{.*?\}\}/gs;

export interface PublicDrawing {
  drawing: JsonObject;
  /** What was written in the credential headers, to be hidden wherever else it stands; variables are not in it. */
  literals: string[];
}

/** A copy of the drawing with `replacement` for the defaults of secret fields and the values of credential headers. */
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

/** `Object.fromEntries` keeps `__proto__` a key like any other. */
function mapValues(object: JsonObject, map: (value: unknown, key: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}
