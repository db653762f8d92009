// An action: one operation of an HTTP service, as data (docs/use/services.md).
import { isCredentialHeader, isOnlyVariables } from '../credential-headers.js';
import { ExactNumber } from '../exact-number.js';
import { isObject, leavesOf, ownValue, type JsonObject } from '../json.js';

/** The part of the request that contains the value of a field. */
export type FieldPlace = 'path' | 'query' | 'header' | 'body';

/** How the values of a field become text, by the names of OpenAPI. `tabDelimited` is `tsv` of Swagger 2.0. */
export type FieldStyle =
  | 'simple'
  | 'label'
  | 'matrix'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'tabDelimited'
  | 'deepObject';

/**
 * A field of an action: a JSON Schema with keys that say where its value goes. A key that is absent has the default of
 * OpenAPI.
 */
export interface ActionField extends JsonObject {
  'x-in': FieldPlace;
  /** The name in the request, where it differs from the key of the field. */
  'x-name'?: string;
  'x-style'?: FieldStyle;
  'x-explode'?: boolean;
  /**
   * True if a parameter with `content`, or a part of a form, is sent as JSON text. Outside of multipart forms, a value
   * that is a text is sent as it is.
   */
  'x-json'?: boolean;
}

/**
 * The body of an action's request. The fields with `x-in: body` are its properties; with `is_whole`, one such field is
 * the whole body.
 */
export interface ActionBody {
  media_type: string;
  is_whole?: boolean;
  /** Without `is_whole`, an empty body (for JSON, `{}`) is sent if no field has a value. */
  is_required?: boolean;
}

/**
 * The facts of an action that its node or tool stores: all that a request needs. Only this product writes them, never a
 * client: from its catalogue (api/services/catalogue/) or from the OpenAPI document of a project's service.
 */
export interface ActionFacts {
  title: string;
  description?: string;
  /** One of the methods of HTTP nodes, in capitals. */
  method: string;
  /**
   * `https://host[:port]/base` (or `http`), without a slash at its end; `{name}` in the host is taken from the
   * connection.
   */
  server: string;
  /** Begins with a slash; `{name}` stands for a field of the path. */
  path: string;
  has_side_effects: boolean;
  /** A JSON Schema of an object, whose properties are `ActionField`s. */
  fields: JsonObject;
  body?: ActionBody;
  /** Headers that every request has, such as the version of the service's interface. */
  headers?: Record<string, string>;
}

/**
 * The action that a node or a tool names. `facts` is undefined if the node stores none: the service had no such action,
 * or `withActions` has not added the facts yet.
 */
export interface NamedAction {
  service: string;
  id: string;
  facts: ActionFacts | undefined;
}

/**
 * Reads `data.action` of an HTTP node, or what `actionOfTool` returns. Returns undefined for a value that does not name
 * both a service and an action.
 */
export function readAction(action: unknown): NamedAction | undefined {
  if (!isObject(action)) return undefined;
  const { service, id } = action;
  if (typeof service !== 'string' || typeof id !== 'string') return undefined;
  return { service, id, facts: factsIn(action) };
}

/** A tool of an agent holds the facts of its action under this key; the other keys of the tool are the user's. */
export const FACTS_OF_TOOL = 'action';

/** Returns the action of an agent's tool, in the form of an HTTP node's `data.action`; undefined for other tools. */
export function actionOfTool(tool: JsonObject): JsonObject | undefined {
  if (ownValue(tool, 'type') !== 'action') return undefined;
  const said = ownValue(tool, FACTS_OF_TOOL);
  const refresh = ownValue(tool, 'refresh');
  return {
    ...(isObject(said) && said),
    service: ownValue(tool, 'service'),
    id: ownValue(tool, 'id'),
    ...(refresh !== undefined && { refresh }),
  };
}

/** Checks only three keys, because only this product stores facts: `withActions` drops those that a client sends. */
function factsIn(action: JsonObject): ActionFacts | undefined {
  const { service: _service, id: _id, refresh: _refresh, ...facts } = action;
  const isStored =
    typeof facts['method'] === 'string' && typeof facts['server'] === 'string' && isObject(facts['fields']);
  return isStored ? (facts as unknown as ActionFacts) : undefined;
}

/** Returns the fields with their keys, in the order of the schema. */
export function fieldsOf({ fields }: Pick<ActionFacts, 'fields'>): [key: string, field: ActionField][] {
  const properties = ownValue(fields, 'properties');
  if (!isObject(properties)) return [];
  return Object.entries(properties).filter((entry): entry is [string, ActionField] => isObject(entry[1]));
}

export function requiredOf({ fields }: Pick<ActionFacts, 'fields'>): ReadonlySet<string> {
  const required = ownValue(fields, 'required');
  return new Set(Array.isArray(required) ? (required as string[]) : []);
}

/** The name of a field in the request. */
export function nameOf(key: string, field: ActionField): string {
  return field['x-name'] ?? key;
}

/** Returns true if a value of the field is a credential, which is sealed and masked where it is literal. */
export function isCredentialField(action: unknown, key: string): boolean {
  if (isCredentialHeader(key)) return true;
  const facts = readAction(action)?.facts;
  if (facts === undefined) return false;
  const field = ownValue(ownValue(facts.fields, 'properties'), key);
  if (!isObject(field)) return false;
  return field['format'] === 'password' || isCredentialHeader(nameOf(key, field as ActionField));
}

/** Returns true if a value of a credential field holds more than variables and a scheme: text or a number. */
export function holdsLiteral(value: unknown): boolean {
  return leavesOf(value).some((leaf) => {
    if (typeof leaf === 'string') return leaf !== '' && !isOnlyVariables(leaf);
    return typeof leaf === 'number' || leaf instanceof ExactNumber;
  });
}

/** Returns true if the host differs from account to account, as in `https://{subdomain}.example.com`. */
export function hasHostOfAccount(server: string): boolean {
  return /^[a-z]+:\/\/[^/]*\{/.test(server);
}

/**
 * Returns the server of a request. A host that differs from account to account is that of the first origin of the
 * connection which fits; undefined if none does.
 */
export function serverFor({ server }: Pick<ActionFacts, 'server'>, origins: readonly string[]): string | undefined {
  if (!hasHostOfAccount(server)) return server;
  const [, origin = '', rest = ''] = /^([a-z]+:\/\/[^/]*)(.*)$/.exec(server) ?? [];
  const pattern = origin
    .split(/\{[^{}]*\}/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('[a-z0-9](?:[a-z0-9-]*[a-z0-9])?');
  const isOfAccount = new RegExp(`^${pattern}$`);
  const found = origins.find((each) => isOfAccount.test(each));
  return found === undefined ? undefined : found + rest;
}
