// Renders the request of an action. HTTP nodes and agents' tools call the same function (docs/use/services.md).
import { fileIdOf } from '../file-values.js';
import { isContainer, isEmpty, isObject, ownValue, setOwn, type JsonObject } from '../json.js';
import { writeJson } from '../json-text.js';
import { NodeError } from '../node-error.js';
import { fieldsOf, nameOf, requiredOf, type ActionFacts, type ActionField } from './action.js';
import { percentEncoded, toPairs, toStyledText, toText, type Pair } from './styled-value.js';

export interface ActionRequest {
  method: string;
  /** The whole address. */
  url: string;
  headers: Record<string, string>;
  /**
   * Text, or one of the objects by which HTTP nodes send files: `{"$file": FILE}`, `{"$form": {...}}`. Undefined if the
   * request has no body.
   */
  body: unknown;
}

/**
 * Returns the request for `values` (by field), whose variables have been filled in. Values that are empty (missing,
 * null, `""`) are left out. `server` is `facts.server` with the braces in its host filled in (`serverFor`).
 *
 * Throws a `NodeError` with the code `invalid_value` if a required value or a value of the path is empty, if a part of
 * the path would be `.` or `..`, or if a header has a line end.
 */
export function renderAction(facts: ActionFacts, values: JsonObject, server: string = facts.server): ActionRequest {
  const given = fieldsOf(facts).flatMap(([key, field]): Given[] => {
    const value = ownValue(values, key);
    return isEmpty(value) ? [] : [{ key, name: nameOf(key, field), field, value }];
  });
  refuseEmpty(facts, given);
  const of = (place: ActionField['x-in']): Given[] => given.filter(({ field }) => field['x-in'] === place);
  const headers: Record<string, string> = { ...facts.headers };
  for (const { key, name, field, value } of of('header')) setOwn(headers, name, toHeader(key, name, value, field));
  const { body, mediaType } = renderBody(facts, of('body'));
  if (mediaType !== undefined) headers['content-type'] = mediaType;
  const url = `${server}${withQuery(renderPath(facts.path, of('path')), of('query'))}`;
  return { method: facts.method, url, headers, body };
}

interface Given {
  key: string;
  /** The name in the request. */
  name: string;
  field: ActionField;
  value: unknown;
}

function invalidValue(message: string): NodeError {
  return new NodeError('invalid_value', message);
}

function refuseEmpty(facts: ActionFacts, given: readonly Given[]): void {
  const known = new Set(given.map(({ key }) => key));
  const missing = Array.from(requiredOf(facts)).find((key) => !known.has(key));
  if (missing !== undefined) throw invalidValue(`The field "${missing}" is required, and its value is empty.`);
}

function renderPath(path: string, given: readonly Given[]): string {
  let rendered = '';
  let copied = 0;
  for (const { index, 0: part, 1: name } of path.matchAll(/\{([^{}]*)\}/g)) {
    const found = given.find((each) => each.name === name);
    rendered += path.slice(copied, index) + (found === undefined ? part : toPathPart(found));
    copied = index + part.length;
  }
  rendered += path.slice(copied);
  const [plain = ''] = rendered.split(/[?#]/, 1);
  if (plain.split('/').some((segment) => segment === '.' || segment === '..')) {
    throw invalidValue('A part of the path would be "." or "..", which names another address.');
  }
  return rendered;
}

function toPathPart({ key, name, field, value }: Given): string {
  const text = toStyledText(name, value, field, percentEncoded);
  if (text === '') throw invalidValue(`The field "${key}" is part of the path, and its value is empty.`);
  if (text === '.' || text === '..')
    throw invalidValue(`The field "${key}" is part of the path, and cannot be "${text}".`);
  return text;
}

function withQuery(path: string, given: readonly Given[]): string {
  const pairs = given.flatMap(({ name, field, value }) => toPairs(name, value, field));
  // A fragment is never sent.
  const [plain = ''] = path.split('#', 1);
  if (pairs.length === 0) return plain;
  return `${plain}${plain.includes('?') ? '&' : '?'}${joined(pairs)}`;
}

function joined(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

function toHeader(key: string, name: string, value: unknown, field: ActionField): string {
  const text = toStyledText(name, value, field, (piece) => piece);
  if (/[\r\n]/.test(text)) throw invalidValue(`The field "${key}" is a header, and its value has more than one line.`);
  return text;
}

interface RenderedBody {
  body: unknown;
  mediaType?: string;
}

function renderBody({ body }: ActionFacts, given: readonly Given[]): RenderedBody {
  if (body === undefined) return { body: undefined };
  const { media_type: mediaType, is_whole: isWhole = false, is_required: isRequired = false } = body;
  if (given.length === 0 && (isWhole || !isRequired)) return { body: undefined };
  if (isFormType(mediaType)) return { body: toForm(given, isWhole), mediaType };
  if (isMultipartType(mediaType)) return { body: { $form: toParts(given, isWhole) } };
  const value = isWhole ? given[0]?.value : toObject(given);
  if (isJsonType(mediaType)) return { body: writeJson(value), mediaType };
  if (fileIdOf(value) !== undefined) return { body: { $file: value }, mediaType };
  return { body: toText(value), mediaType };
}

export function isJsonType(mediaType: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(mediaType);
}

export function isMultipartType(mediaType: string): boolean {
  return /^multipart\//i.test(mediaType);
}

export function isFormType(mediaType: string): boolean {
  return /^application\/x-www-form-urlencoded/i.test(mediaType);
}

function toObject(given: readonly Given[]): JsonObject {
  const object: JsonObject = {};
  for (const { name, value } of given) setOwn(object, name, value);
  return object;
}

function toForm(given: readonly Given[], isWhole: boolean): string {
  const [first] = given;
  if (!isWhole) return joined(given.flatMap(({ name, value, field }) => formPairs(name, value, field)));
  if (first === undefined || !isObject(first.value)) return toText(first?.value);
  return joined(Object.entries(first.value).flatMap(([name, value]) => formPairs(name, value, { 'x-in': 'body' })));
}

/**
 * OpenAPI sends an object in a form as JSON, unless its encoding says otherwise. An empty list or object is always sent
 * as JSON.
 */
function formPairs(name: string, value: unknown, field: ActionField): Pair[] {
  const isJson = isObject(value) && field['x-style'] === undefined && field['x-explode'] === undefined;
  const isNothing = isContainer(value) && Object.keys(value).length === 0;
  if (isJson || isNothing) return [[percentEncoded(name), percentEncoded(writeJson(value))]];
  return toPairs(name, value, field);
}

/**
 * Returns the value of `$form`. activities/kinds/http/file-body.ts makes the parts from it: one for each item of a
 * list, JSON of an object, the bytes of a file.
 */
function toParts(given: readonly Given[], isWhole: boolean): JsonObject {
  const [first] = given;
  // An OpenAPI document that describes a multipart body as a single file gives no name to the part that has the file.
  if (isWhole && fileIdOf(first?.value) !== undefined) return { file: first?.value };
  if (isWhole && isObject(first?.value)) return first.value;
  const parts: JsonObject = {};
  for (const { name, value, field } of given) setOwn(parts, name, field['x-json'] === true ? writeJson(value) : value);
  return parts;
}
