// Chooses operations of documents at random, and makes a small document of them for OpenAPI Generator.
import { isFormType, isJsonType } from '../../../graph/actions/render-request.js';
import { pointed } from './random-values.js';
import type { Random } from './random.js';

export type Json = Record<string, unknown>;

interface Parameter {
  place: string;
  name: string;
  isRequired: boolean;
  /** The document describes it by `content` instead of `schema`. */
  hasContent: boolean;
  schema: unknown;
}

export interface ChosenOperation {
  /** The id of the operation in the small document. */
  id: string;
  method: string;
  /** The path in the original document. */
  path: string;
  /** The parameters in path, query and header, and in the `form` of Swagger 2.0. */
  parameters: Parameter[];
  body: ChosenBody | undefined;
}

interface ChosenBody {
  mediaType: string;
  schema: unknown;
  /** Undefined if the document does not say. The required properties of the body are then required of the caller. */
  isRequired: boolean | undefined;
}

export interface ChosenDocument {
  root: Json;
  small: Json;
  operations: ChosenOperation[];
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
/** OpenAPI ignores header parameters with these names ("Parameter Object"). */
const IGNORED = new Set(['accept', 'content-type', 'authorization']);
/**
 * Several documents distinguish operations of one path by a fragment, which is never sent. The small document has the
 * number of the operation before the path instead, and the comparison removes it.
 */
export const NUMBER_OF_OPERATION = /\/-op\d+(?=\/)/;

/**
 * The small document has the operations and everything that they refer to, but no answers and no security: requests do
 * not depend on these, and the generator is much faster without them. Of several media types of a body it has the one
 * that actions use (docs/use/services.md).
 */
export function chooseOperations(
  root: Json,
  random: Random,
  { most, isWanted }: { most: number; isWanted: (methodAndPath: string) => boolean },
): ChosenDocument {
  const paths = (root['paths'] ?? {}) as Record<string, Json>;
  const all = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item?.[method] !== undefined && isWanted(`${method.toUpperCase()} ${path}`)).map(
      (method) => ({ path, item, method }),
    ),
  );
  const { swagger, openapi, host, basePath, schemes, servers } = root;
  const small: Json = {
    ...Object.fromEntries(
      Object.entries({ swagger, openapi, host, basePath, schemes, servers }).filter(([, value]) => value !== undefined),
    ),
    info: { title: 'Chosen', version: '1' },
    paths: {},
  };
  const operations = random
    .shuffled(all)
    .slice(0, most)
    .flatMap(({ path, item, method }, index) => {
      const operation = readOperation(root, { item, method, path, id: `op${index}` });
      if (operation === undefined) return [];
      const smallPath = path.includes('#') ? `/-op${index}${path.split('#', 1)[0]!}` : path;
      const smallPaths = small['paths'] as Record<string, Json>;
      const withMethod = { ...smallPaths[smallPath], [method]: smallOperation(root, item, method, operation) };
      smallPaths[smallPath] = item['servers'] === undefined ? withMethod : { servers: item['servers'], ...withMethod };
      return [operation];
    });
  copyReferred(root, small);
  return { root, small, operations };
}

/** Returns undefined for an operation that an action cannot call: it requires a cookie, or a reference is broken. */
function readOperation(
  root: Json,
  { item, method, path, id }: { item: Json; method: string; path: string; id: string },
): ChosenOperation | undefined {
  const operation = item[method] as Json;
  const found = parametersOf(root, item, operation);
  if (
    found.some(
      (parameter) => parameter === undefined || (parameter['in'] === 'cookie' && parameter['required'] === true),
    )
  )
    return undefined;
  const given = found as Json[];
  const parameters = given
    .filter((parameter) => isSent(root, parameter))
    .map((parameter): Parameter => ({
      place: parameter['in'] === 'formData' ? 'form' : String(parameter['in']),
      name: String(parameter['name']),
      isRequired: parameter['required'] === true || parameter['in'] === 'path',
      hasContent: parameter['content'] !== undefined,
      schema: schemaOf(parameter),
    }));
  return { id, method: method.toUpperCase(), path, parameters, body: bodyOf(root, operation, given) };
}

function parametersOf(root: Json, item: Json, operation: Json): (Json | undefined)[] {
  const found = new Map<string, Json | undefined>();
  for (const one of [...listOf(operation['parameters']), ...listOf(item['parameters'])]) {
    const parameter = resolved(root, one);
    const key = `${String(parameter?.['in'])}:${String(parameter?.['name'])}`;
    if (!found.has(key)) found.set(key, parameter);
  }
  return [...found.values()];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function resolved(root: Json, value: unknown): Json | undefined {
  let current = value as Json | undefined;
  for (let step = 0; step < 20 && typeof current?.['$ref'] === 'string'; step += 1) {
    current = pointed(root, current['$ref']) as Json | undefined;
  }
  return typeof current === 'object' && current['$ref'] === undefined ? current : undefined;
}

/** Swagger 2.0 writes the schema into the parameter. */
function schemaOf(parameter: Json): unknown {
  const content = parameter['content'] as Record<string, Json> | undefined;
  if (content !== undefined) return Object.values(content)[0]?.['schema'];
  return parameter['schema'] ?? parameter;
}

function isSent(root: Json, { in: place, name }: Json): boolean {
  if (place === 'header' && IGNORED.has(String(name).toLowerCase())) return false;
  if (place === 'body' || place === 'cookie') return false;
  return !keysOfSecurity(root).some((scheme) => {
    const isSame =
      place === 'header'
        ? String(scheme['name']).toLowerCase() === String(name).toLowerCase()
        : scheme['name'] === name;
    return scheme['in'] === place && isSame;
  });
}

/** The API keys of security schemes. They are no parameters of an action, because the connection adds them. */
function keysOfSecurity(root: Json): Json[] {
  const schemes = root['securityDefinitions'] ?? (root['components'] as Json | undefined)?.['securitySchemes'] ?? {};
  return Object.values(schemes as Json)
    .map((scheme) => resolved(root, scheme) ?? {})
    .filter((scheme) => scheme['type'] === 'apiKey');
}

function bodyOf(root: Json, operation: Json, parameters: Json[]): ChosenBody | undefined {
  if (root['swagger'] !== undefined) {
    const whole = parameters.find((parameter) => parameter['in'] === 'body');
    const mediaType = chosenType(consumesOf(root, operation)) ?? 'application/json';
    return whole && { mediaType, schema: whole['schema'], isRequired: whole['required'] === true };
  }
  const requestBody = resolved(root, operation['requestBody']);
  const content = (requestBody?.['content'] ?? {}) as Record<string, Json>;
  const mediaType = chosenType(Object.keys(content));
  if (mediaType === undefined) return undefined;
  return {
    mediaType,
    schema: content[mediaType]!['schema'],
    isRequired: requestBody?.['required'] as boolean | undefined,
  };
}

function consumesOf(root: Json, operation: Json): string[] {
  return listOf(operation['consumes'] ?? root['consumes']).map(String);
}

function chosenType(types: readonly string[]): string | undefined {
  const tests = [
    (type: string) => /^application\/json\s*(;|$)/i.test(type),
    (type: string) => isJsonType(type) || type === '*/*',
    isFormType,
    (type: string) => type.startsWith('multipart/form-data'),
    () => true,
  ];
  return tests.map((test) => types.find(test)).find((type) => type !== undefined);
}

function smallOperation(root: Json, item: Json, method: string, { id, body }: ChosenOperation): Json {
  const operation = item[method] as Json;
  const isSwagger = root['swagger'] !== undefined;
  const parameters = parametersOf(root, item, operation).filter(
    (parameter) => parameter !== undefined && (parameter['in'] === 'body' || isSent(root, parameter)),
  );
  const requestBody = resolved(root, operation['requestBody']);
  const content = body === undefined ? undefined : (requestBody?.['content'] as Json | undefined)?.[body.mediaType];
  const consumes = chosenType(consumesOf(root, operation));
  return {
    operationId: id,
    tags: ['all'],
    ...(parameters.length > 0 && { parameters }),
    ...(operation['servers'] !== undefined && { servers: operation['servers'] }),
    ...(content !== undefined && { requestBody: { ...requestBody, content: { [body!.mediaType]: content } } }),
    ...(isSwagger && consumes !== undefined && { consumes: [consumes] }),
    responses: { default: { description: 'Any answer' } },
  };
}

/** Copies everything that the small document refers to, to the same places as in `root`. */
function copyReferred(root: Json, small: Json): void {
  const met = new Set<string>();
  const pending: unknown[] = [small];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const reference = (next as Json)['$ref'];
    if (typeof reference === 'string' && !met.has(reference)) {
      met.add(reference);
      const value = pointed(root, reference);
      if (value !== undefined) {
        setAt(small, reference, value);
        pending.push(value);
      }
    }
    pending.push(...Object.values(next));
  }
}

function setAt(small: Json, reference: string, value: unknown): void {
  const keys = reference
    .slice(2)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  let at = small;
  for (const key of keys.slice(0, -1)) {
    at[key] ??= {};
    at = at[key] as Json;
  }
  at[keys.at(-1)!] ??= value;
}
