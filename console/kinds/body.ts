// The body types of an HTTP request node. Besides files and forms with files (`BODY_KEYS`), the service sends texts as
// they are, and other values as JSON, or as a form if the Content-Type header says so.
import { isObject, type JsonObject } from '../../graph/json.js';
import { fromJsonText, isJson, quoteLongNumbers } from '../forms/values.js';
import { asObject, asText } from '../ui/json.js';

export type BodyType = 'none' | 'json' | 'form' | 'text' | 'file' | 'form-files';

/** The only key of a body that sends a file, or a form with files. */
export const BODY_KEYS = { file: '$file', 'form-files': '$form' } as const;

const FORM = 'application/x-www-form-urlencoded';
const CONTENT_TYPE = 'content-type';

export function bodyTypeOf({ body, headers }: JsonObject): BodyType {
  if (body === undefined || body === null) return 'none';
  const keys = isObject(body) ? Object.keys(body).join() : '';
  if (keys === BODY_KEYS.file) return 'file';
  if (keys === BODY_KEYS['form-files']) return 'form-files';
  if (isObject(body) && contentTypeOf(headers).startsWith(FORM)) return 'form';
  return typeof body === 'string' && !isOneVariable(body) ? 'text' : 'json';
}

/** True if the text is a single variable. The service sends such a body as the JSON value of the variable. */
function isOneVariable(text: string): boolean {
  return /^\{\{[^{}]*\}\}$/.test(text);
}

/** Returns the node's data with another type of body. Converts the old body where possible. */
export function toBodyType(data: JsonObject, type: BodyType): JsonObject {
  const { body: written, headers, ...rest } = data;
  const body = withoutFiles(written);
  const others = asObject(headers);
  const isForm = contentTypeOf(headers).startsWith(FORM);
  const plain = isForm ? withoutContentType(others) : others;
  switch (type) {
    case 'none':
      return { ...rest, ...withHeaders(plain) };
    case 'text':
      return { ...rest, ...withHeaders(plain), body: typeof body === 'string' ? body : textOf(body) };
    case 'form':
      return {
        ...rest,
        headers: { ...withoutContentType(others), 'Content-Type': FORM },
        body: toFields(body),
      };
    case 'file':
      return { ...rest, ...withHeaders(plain), body: { [BODY_KEYS.file]: '' } };
    case 'form-files':
      return { ...rest, ...withHeaders(plain), body: { [BODY_KEYS['form-files']]: toFields(body) } };
    case 'json':
    default:
      return { ...rest, ...withHeaders(plain), body: toJson(body) };
  }
}

/** A form with files can pass its fields to another type of body; a single file cannot. */
function withoutFiles(body: unknown): unknown {
  const fields = asObject(body)[BODY_KEYS['form-files']];
  if (fields !== undefined) return fields;
  return Object.hasOwn(asObject(body), BODY_KEYS.file) ? undefined : body;
}

function withHeaders(headers: JsonObject): JsonObject {
  return Object.keys(headers).length === 0 ? {} : { headers };
}

function contentTypeOf(headers: unknown): string {
  const [, value] = Object.entries(asObject(headers)).find(([name]) => name.toLowerCase() === CONTENT_TYPE) ?? [];
  return asText(value)?.toLowerCase() ?? '';
}

function withoutContentType(headers: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== CONTENT_TYPE));
}

function textOf(body: unknown): string {
  return body === undefined || body === null ? '' : JSON.stringify(body, null, 2);
}

function toJson(body: unknown): unknown {
  if (typeof body !== 'string') return body ?? {};
  return isJson(body) ? (fromJsonText(body) ?? {}) : {};
}

/** A form sends its fields as texts, so a number that JavaScript would round is kept as a text. */
function toFields(body: unknown): JsonObject {
  return asObject(toJson(typeof body === 'string' ? quoteLongNumbers(body) : body));
}
