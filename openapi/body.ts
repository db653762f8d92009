// The body of an operation as fields: the properties of an object, or one field `body`.
import type { ActionBody, ActionField } from '../graph/actions/action.js';
import { isFormType, isJsonType, isMultipartType } from '../graph/actions/render-request.js';
import { isObject, ownValue, type JsonObject } from '../graph/json.js';
import { copySchema, isReadOnly, requiredAt, type SizeBudget } from './copied-schema.js';
import { entriesAt, listAt, resolve, resolveObject, OperationProblem, type OpenapiDocument } from './document.js';
import { collectionStyle, type FoundField } from './parameters.js';

export interface FoundBody {
  body: ActionBody;
  fields: FoundField[];
}

const MOST_PROPERTIES = 500;
/**
 * The limit on the schemas whose properties are put together for one body. A small document could need many more,
 * because each `allOf` may list the same part 50 times (`MOST_PARTS_OF_ONE`), on ten levels.
 */
const MOST_PARTS = 500;
const MOST_PARTS_OF_ONE = 50;

/** Returns undefined for a missing body, one without media types, and Swagger 2.0. Throws `OperationProblem`. */
export function readBody(document: OpenapiDocument, operation: JsonObject, budget: SizeBudget): FoundBody | undefined {
  const given = ownValue(operation, 'requestBody');
  if (given === undefined || document.isSwagger) return undefined;
  const requestBody = resolveObject(document, given, 'Its request body');
  const media = chooseMedia(entriesAt(requestBody, 'content'));
  if (media === undefined) return undefined;
  const [mediaType, content] = media;
  const required = ownValue(requestBody, 'required');
  const body: ActionBody = { media_type: mediaType, ...(required === true && { is_required: true }) };
  // Many documents omit `required` of the body although its properties are required, so only `false` makes the
  // properties optional.
  return toFields(
    document,
    { body, schema: ownValue(content, 'schema'), content, isOptional: required === false },
    budget,
  );
}

type Media = [mediaType: string, content: unknown];

/** Chooses JSON first, then a form, multipart, and any other type. Plain JSON comes before other types of JSON. */
export function chooseMedia(content: readonly Media[]): Media | undefined {
  const known = content.map(([type, value]): Media => [
    type.trim() === '*/*' ? 'application/json' : type.trim(),
    value,
  ]);
  const tests = [
    (type: string) => /^application\/json\s*(;|$)/i.test(type),
    isJsonType,
    isFormType,
    (type: string) => /^multipart\/form-data/i.test(type),
    () => true,
  ];
  for (const test of tests) {
    const found = known.find(([type]) => test(type));
    if (found !== undefined) return [toConcrete(found[0]), found[1]];
  }
  return undefined;
}

/** Returns a media type for the `Content-Type` header, in place of one with a wildcard or invalid characters. */
function toConcrete(type: string): string {
  if (isJsonType(type) && type.includes('*')) return 'application/json';
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;\s*[\w-]+=[\w."+-]+)*$/.test(type) ? type : 'application/octet-stream';
}

interface GivenBody {
  body: ActionBody;
  schema: unknown;
  /** The media type object, which may have encodings. */
  content: unknown;
  /** True if no property is a required field, because the body may be missing. */
  isOptional: boolean;
}

function toFields(
  document: OpenapiDocument,
  { body, schema, content, isOptional }: GivenBody,
  budget: SizeBudget,
): FoundBody {
  const type = body.media_type;
  const isObjectBody = isJsonType(type) || isFormType(type) || isMultipartType(type);
  const properties = isObjectBody ? propertiesOf(document, schema) : undefined;
  if (properties === undefined) {
    const field = wholeField(document, type, schema, budget);
    const whole = { ...body, is_whole: true };
    return { body: whole, fields: [{ name: 'body', field, isRequired: body.is_required === true }] };
  }
  const fields = properties.entries.map(([name, property]): FoundField => {
    const copied = copySchema(document, property, budget);
    const style = isJsonType(type) ? {} : encodingOf(content, name);
    const field: ActionField = { ...copied, 'x-in': 'body', ...style };
    return { name, field, isRequired: !isOptional && properties.required.has(name) };
  });
  return { body, fields };
}

interface Properties {
  entries: [name: string, schema: unknown][];
  required: Set<string>;
}

/**
 * Returns the properties that a client may write. Undefined if the body is no object, if there are none, if `oneOf` or
 * `anyOf` decides about some of them, or if they exceed the limits.
 */
function propertiesOf(document: OpenapiDocument, schema: unknown): Properties | undefined {
  const found = joinedProperties(document, schema, { level: 0, counted: { parts: 0 } });
  return found === undefined || found.entries.length === 0 ? undefined : found;
}

interface Joining {
  level: number;
  /** One count for all parts of the body. */
  counted: { parts: number };
}

/**
 * Returns no entries for a schema without properties: as a part of `allOf`, it may still name required properties.
 * Returns undefined if some properties are unknown: then the caller must not take the known ones for all.
 */
function joinedProperties(
  document: OpenapiDocument,
  given: unknown,
  { level, counted }: Joining,
): Properties | undefined {
  counted.parts += 1;
  if (counted.parts > MOST_PARTS) return undefined;
  const schema = given === undefined ? undefined : resolve(document, given);
  if (level > 10) return undefined;
  if (!isObject(schema)) return { entries: [], required: new Set() };
  if (['oneOf', 'anyOf'].some((key) => ownValue(schema, key) !== undefined)) return undefined;
  const type = ownValue(schema, 'type');
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) return undefined;
  const entries = new Map<string, unknown>();
  const required = new Set(requiredAt(schema));
  const parts = listAt(schema, 'allOf');
  if (parts.length > MOST_PARTS_OF_ONE) return undefined;
  for (const part of parts) {
    const inner = joinedProperties(document, part, { level: level + 1, counted });
    if (inner === undefined) return undefined;
    for (const [name, property] of inner.entries) entries.set(name, property);
    for (const name of inner.required) required.add(name);
  }
  for (const [name, property] of entriesAt(schema, 'properties')) entries.set(name, property);
  if (entries.size > MOST_PROPERTIES) return undefined;
  const written = [...entries].filter(([, property]) => !isReadOnly(resolvedOrGiven(document, property)));
  return { entries: written, required };
}

function resolvedOrGiven(document: OpenapiDocument, value: unknown): unknown {
  try {
    return resolve(document, value);
  } catch (error) {
    if (error instanceof OperationProblem) return value;
    throw error;
  }
}

function wholeField(document: OpenapiDocument, type: string, schema: unknown, budget: SizeBudget): ActionField {
  const copied = schema === undefined ? {} : copySchema(document, schema, budget);
  const { description } = copied;
  const described = { ...(description !== undefined && { description }) };
  if (isJsonType(type) || isFormType(type) || isMultipartType(type)) return { ...copied, 'x-in': 'body' };
  // A body of any other type is sent unchanged: a text, or the bytes of a file.
  return { type: 'string', ...described, ...(!/^text\/|xml/i.test(type) && { format: 'binary' }), 'x-in': 'body' };
}

/** Returns how a form writes a property, according to the `encoding` of its media type. */
function encodingOf(content: unknown, name: string): Partial<ActionField> {
  const encoding = ownValue(ownValue(content, 'encoding'), name);
  const style = ownValue(encoding, 'style');
  const explode = ownValue(encoding, 'explode');
  const isJson = isJsonType(String(ownValue(encoding, 'contentType')));
  return {
    ...(isJson && { 'x-json': true }),
    ...(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'].includes(String(style)) && {
      'x-style': style as ActionField['x-style'] & string,
    }),
    ...(typeof explode === 'boolean' && { 'x-explode': explode }),
  };
}

/** Reads the body of an operation of Swagger 2.0: one parameter in `body`, or the parameters in `formData`. */
export function readSwaggerBody(
  document: OpenapiDocument,
  parameters: readonly JsonObject[],
  consumes: readonly string[],
  budget: SizeBudget,
): FoundBody | undefined {
  const whole = parameters.find((parameter) => parameter['in'] === 'body');
  if (whole !== undefined) {
    const [mediaType] = chooseMedia(consumes.map((type): Media => [type, undefined])) ?? ['application/json'];
    const isForm = isFormType(mediaType) || isMultipartType(mediaType);
    const isRequired = whole['required'] === true;
    const body: ActionBody = {
      // In Swagger 2.0 only parameters in `formData` make a form, so this body is JSON.
      media_type: isForm ? 'application/json' : mediaType,
      ...(isRequired && { is_required: true }),
    };
    const given = { body, schema: whole['schema'], content: undefined, isOptional: !isRequired };
    return toFields(document, given, budget);
  }
  const form = parameters.filter((parameter) => parameter['in'] === 'formData');
  if (form.length === 0) return undefined;
  const isMultipart =
    form.some(({ type }) => type === 'file') || (consumes.some(isMultipartType) && !consumes.some(isFormType));
  const fields = form.map((parameter): FoundField => {
    const field: ActionField = {
      ...copySchema(document, parameter, budget),
      'x-in': 'body',
      ...collectionStyle(parameter),
    };
    return { name: String(parameter['name']), field, isRequired: parameter['required'] === true };
  });
  return { body: { media_type: isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded' }, fields };
}
