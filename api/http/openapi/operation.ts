// Describes one route as an OpenAPI operation.
import { z } from 'zod';
import type { OpenAPIV3_1 as OpenApi } from 'openapi-types';
import type { JsonSchema } from '../documented-as.js';
import type { Auth, RouteDeclaration } from '../route.js';
import { allAnswers, STATUS_TEXTS } from './common-answers.js';
import type { JsonSchemas } from './json-schemas.js';
import { groupOf } from './tags.js';

type ParameterIn = 'path' | 'query' | 'header';

const SECURITY: Record<Auth, Record<string, string[]>[]> = {
  key: [{ ApiKey: [] }, { SessionToken: [] }],
  session: [{ SessionToken: [] }],
  'bearer-key': [{ BearerKey: [] }],
  optional: [{}, { ApiKey: [] }, { SessionToken: [] }],
  internal: [{ InternalToken: [] }],
  open: [],
};

const RATE_LIMIT_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

export function toOperation(route: RouteDeclaration, schemas: JsonSchemas): OpenApi.OperationObject {
  const parameters = [
    ...toParameters('path', route.params, schemas),
    ...toParameters('query', route.query, schemas),
    ...toParameters('header', route.headers, schemas),
  ];
  return {
    operationId: toOperationId(route),
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [groupOf(route.path)],
    security: SECURITY[route.auth],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: toRequestBody(route, route.body, schemas) }),
    responses: toResponses(route, schemas),
  };
}

function toOperationId({ method, path }: RouteDeclaration): string {
  const words = path.replace(/^\/api\/v1/, '').match(/[A-Za-z0-9]+/g) ?? [];
  return [method.toLowerCase(), ...words].join('_');
}

function toParameters(
  parameterIn: ParameterIn,
  schema: z.ZodType | undefined,
  schemas: JsonSchemas,
): OpenApi.ParameterObject[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemas.of(schema, 'input') as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...member }]) => ({
    name: parameterIn === 'header' ? toHeaderName(name) : name,
    in: parameterIn,
    required: parameterIn === 'path' || required.includes(name),
    ...(typeof description === 'string' ? { description } : {}),
    schema: member,
  }));
}

/** `x-project-id` -> `X-Project-Id`. */
function toHeaderName(name: string): string {
  return name.replaceAll(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}

function toRequestBody(route: RouteDeclaration, body: z.ZodType, schemas: JsonSchemas): OpenApi.RequestBodyObject {
  const { bodyFormat = 'json' } = route;
  // These formats accept any media type, and some of their routes an empty body.
  if (bodyFormat === 'text' || bodyFormat === 'run-input' || bodyFormat === 'bytes') {
    const content = { 'application/json': { schema: {} }, 'text/plain': { schema: { type: 'string' as const } } };
    return { required: false, content };
  }
  if (bodyFormat === 'stream') {
    const file = { type: 'string' as const, format: 'binary' };
    const form = { type: 'object' as const, properties: { file }, required: ['file'] };
    const content = { 'multipart/form-data': { schema: form }, 'application/octet-stream': { schema: file } };
    return { required: false, content };
  }
  // An empty body counts as `{}`, so the body is optional if the schema accepts that.
  const required = !body.safeParse({}).success;
  return { required, content: { 'application/json': { schema: schemas.of(body, 'input') } } };
}

function toResponses(route: RouteDeclaration, schemas: JsonSchemas): OpenApi.ResponsesObject {
  const responses: OpenApi.ResponsesObject = {};
  for (const [status, schema] of allAnswers(route)) {
    const description = STATUS_TEXTS[status] ?? `Status ${status}.`;
    const content = schema instanceof z.ZodNull ? {} : { content: toContent(route, status, schema, schemas) };
    responses[String(status)] = { description, headers: toHeaders(route, status), ...content };
  }
  if (route.otherAnswers !== undefined) responses['default'] = { description: route.otherAnswers };
  return responses;
}

function toContent(
  route: RouteDeclaration,
  status: number,
  schema: z.ZodType,
  schemas: JsonSchemas,
): Record<string, OpenApi.MediaTypeObject> {
  const types = route.mediaTypes?.[status] ?? ['application/json'];
  return Object.fromEntries(
    types.map((type) => {
      if (type !== 'application/json') return [type, { schema: { type: 'string' as const } }];
      const ours = schemas.of(schema, 'output');
      const mayBeOthers = route.otherAnswers !== undefined && status >= 400 && status < 500;
      return [type, { schema: mayBeOthers ? { anyOf: [ours, {}] } : ours }];
    }),
  );
}

function toHeaders(route: RouteDeclaration, status: number): Record<string, OpenApi.ReferenceObject> {
  const names = ['X-Request-Id'];
  if (status < 400) names.push(...(route.answerHeaders ?? []));
  if (status === 401) names.push('WWW-Authenticate');
  if (status === 429) names.push('Retry-After');
  if (['key', 'session', 'bearer-key'].includes(route.auth)) names.push(...RATE_LIMIT_HEADERS);
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
