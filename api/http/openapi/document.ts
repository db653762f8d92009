// Generates the OpenAPI 3.1 document of the service from the declarations of its routes.
import type { OpenAPIV3_1 as OpenApi } from 'openapi-types';
import type { RouteDeclaration } from '../route.js';
import { createJsonSchemas } from './json-schemas.js';
import { toOperation } from './operation.js';
import { groupOf, inReadingOrder } from './tags.js';

/** The version of the interface, not of the program: it changes with the path prefix. */
const INTERFACE_VERSION = '1.0';

const DESCRIPTION = `Draw a graph of nodes, start it, poll for its results.

Every path works with and without its trailing slash. Errors are \`{"detail", "code"}\`, field errors an object of arrays of
sentences by field; everything below \`/v1/\` answers errors in the chat-completion shape. A run start and a poll answer 200
with the outcome inside. Every answer carries \`X-Request-Id\`: the caller's, if it sent a sane one.`;

/** `PathItemObject` of openapi-types accepts only operations of OpenAPI 3.0. */
type OpenApiDocument = Omit<OpenApi.Document, 'paths'> & {
  paths: Record<string, Record<string, OpenApi.OperationObject>>;
};

export function createOpenApiDocument(routes: RouteDeclaration[]): OpenApiDocument {
  const schemas = createJsonSchemas();
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = toOperation(route, schemas);
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Workflow automation service', version: INTERFACE_VERSION, description: DESCRIPTION },
    servers: [{ url: '/' }],
    tags: inReadingOrder(routes.map(({ path }) => groupOf(path))).map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.components(),
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const text = (description: string): OpenApi.HeaderObject => ({ description, schema: { type: 'string' } });
const count = (description: string): OpenApi.HeaderObject => ({
  description,
  schema: { type: 'integer', minimum: 0 },
});

const HEADERS: Record<string, OpenApi.HeaderObject> = {
  'X-Request-Id': { ...text('Names the request in our logs.'), required: true },
  'WWW-Authenticate': text('Which credentials are asked for.'),
  'Retry-After': count('Seconds until the next request may pass.'),
  'X-RateLimit-Limit': count('Requests a minute of this key.'),
  'X-RateLimit-Remaining': count('What is left of them.'),
  'X-RateLimit-Reset': count('When the minute ends.'),
  'RateLimit-Policy': text('The limit in the words of the IETF draft.'),
  RateLimit: text('What is left of it, in the words of the IETF draft.'),
  ETag: text('Names this state of the object: for `If-Match` of a change, and for `If-None-Match` of a poll.'),
  'Content-Disposition': text('That the answer is a file, and its name.'),
  'Accept-Ranges': text('`bytes`: parts of the file can be asked for.'),
  'Content-Range': text('Which bytes of how many the answer has.'),
  'Idempotent-Replayed': text('`true` where the answer is that of an earlier request with the same key.'),
  'Mcp-Session-Id': text('Of the answer to `initialize`: the session, which each further request names.'),
  'Preference-Applied': text('`wait=N` where the answer was held back, or would have been, for N seconds at most.'),
};

const SECURITY_SCHEMES: Record<string, OpenApi.SecuritySchemeObject> = {
  ApiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'A key of a user with API access.' },
  SessionToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A frontend session.' },
  BearerKey: { type: 'http', scheme: 'bearer', description: 'The same API key, as chat-completion clients send it.' },
  InternalToken: { type: 'http', scheme: 'bearer', description: "The workers' service token." },
};
