// The parameters of an operation as fields.
import type { ActionField, FieldPlace, FieldStyle } from '../graph/actions/action.js';
import { isJsonType } from '../graph/actions/render-request.js';
import { isObject, ownValue, type JsonObject } from '../graph/json.js';
import { copySchema, type SizeBudget } from './copied-schema.js';
import { entriesAt, listAt, OperationProblem, resolveObject, type OpenapiDocument } from './document.js';
import type { Security } from './security.js';

export interface FoundField {
  /** The name in the request. */
  name: string;
  field: ActionField;
  isRequired: boolean;
}

const MOST_PARAMETERS = 500;
/** Headers that are not read as fields. OpenAPI excludes the first three; nodes refuse the others, except `cookie`. */
const NO_FIELDS = new Set([
  'accept',
  'content-type',
  'authorization',
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'keep-alive',
  'proxy-connection',
  'http2-settings',
  'te',
  'trailer',
  'cookie',
]);

/**
 * Returns the parameters of a path and its operation. If both have one of the same name and place, the operation's
 * counts. Throws `OperationProblem`.
 */
export function parametersOf(document: OpenapiDocument, path: JsonObject, operation: JsonObject): JsonObject[] {
  const found = new Map<string, JsonObject>();
  const given = [...listAt(operation, 'parameters'), ...listAt(path, 'parameters')];
  if (given.length > MOST_PARAMETERS) throw new OperationProblem(`It has more than ${MOST_PARAMETERS} parameters.`);
  for (const one of given) {
    const parameter = resolveObject(document, one, 'One of its parameters');
    if (typeof parameter['name'] !== 'string') throw new OperationProblem('One of its parameters has no name.');
    const key = `${String(parameter['in'])}:${parameter['name']}`;
    if (!found.has(key)) found.set(key, parameter);
  }
  return [...found.values()];
}

/** Returns the fields of the parameters in path, query and headers. Throws `OperationProblem`. */
export function readParameters(
  document: OpenapiDocument,
  parameters: readonly JsonObject[],
  { security, path, budget }: { security: Security; path: string; budget: SizeBudget },
): FoundField[] {
  const inPath = new Set(Array.from(path.matchAll(/\{([^{}]*)\}/g), ([, name]) => name!));
  const fields: FoundField[] = [];
  for (const parameter of parameters) {
    const place = parameter['in'];
    const name = String(parameter['name']);
    const isCookie = place === 'cookie' || (place === 'header' && name.toLowerCase() === 'cookie');
    if (isCookie && parameter['required'] === true) {
      throw new OperationProblem(`It requires the cookie "${name}", and cookies are not sent.`);
    }
    if (!isPlace(place) || isOfConnection(security, place, name)) continue;
    if (place === 'path' && !inPath.delete(name)) continue;
    if (place === 'header' && (NO_FIELDS.has(name.toLowerCase()) || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name))) continue;
    const field = toField(document, parameter, place, budget);
    fields.push({ name, field, isRequired: place === 'path' || parameter['required'] === true });
  }
  // A part of the path for which the document declares no parameter becomes a required text.
  for (const name of inPath) fields.push({ name, field: { type: 'string', 'x-in': 'path' }, isRequired: true });
  return fields;
}

function isPlace(place: unknown): place is Exclude<FieldPlace, 'body'> {
  return place === 'path' || place === 'query' || place === 'header';
}

function isOfConnection({ parameters }: Security, place: string, name: string): boolean {
  return parameters.has(place === 'header' ? `header:${name.toLowerCase()}` : `${place}:${name}`);
}

function toField(document: OpenapiDocument, parameter: JsonObject, place: FieldPlace, budget: SizeBudget): ActionField {
  if (document.isSwagger) {
    return { ...copySchema(document, parameter, budget), 'x-in': place, ...collectionStyle(parameter) };
  }
  const description = ownValue(parameter, 'description');
  const [media] = entriesAt(parameter, 'content');
  const schema = media === undefined ? ownValue(parameter, 'schema') : ownValue(media[1], 'schema');
  const copied = isObject(schema) ? copySchema(document, schema, budget) : {};
  const described = copySchema(document, { description }, budget);
  return {
    ...copied,
    ...described,
    'x-in': place,
    ...(media !== undefined && isJsonType(media[0]) && { 'x-json': true }),
    ...styleOf(parameter, place),
  };
}

const STYLES: Record<Exclude<FieldPlace, 'body'>, FieldStyle[]> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
};

/** Returns how a parameter is written, where that differs from the defaults of OpenAPI. */
function styleOf(parameter: JsonObject, place: FieldPlace): Partial<ActionField> {
  const style = place === 'body' ? undefined : STYLES[place].find((each) => each === parameter['style']);
  const explode = parameter['explode'];
  const isExplodedByDefault = place === 'query' && (style === undefined || style === 'form');
  return {
    ...(style !== undefined && style !== 'form' && style !== 'simple' && { 'x-style': style }),
    ...(typeof explode === 'boolean' && explode !== isExplodedByDefault && { 'x-explode': explode }),
  };
}

const COLLECTION_STYLES = new Map<unknown, FieldStyle>([
  ['ssv', 'spaceDelimited'],
  ['tsv', 'tabDelimited'],
  ['pipes', 'pipeDelimited'],
]);

/** Returns how Swagger 2.0 writes a list: with commas, unless `collectionFormat` of a query or form says otherwise. */
export function collectionStyle(parameter: JsonObject): Partial<ActionField> {
  if (parameter['type'] !== 'array') return {};
  const format = parameter['collectionFormat'];
  if (format === 'multi')
    return parameter['in'] === 'query' || parameter['in'] === 'formData'
      ? { 'x-style': 'form', 'x-explode': true }
      : {};
  if (parameter['in'] === 'path' || parameter['in'] === 'header') return {};
  return { 'x-style': COLLECTION_STYLES.get(format) ?? 'form', 'x-explode': false };
}
