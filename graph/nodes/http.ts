import { z } from 'zod';
import { CREDENTIALS_IN_ADDRESS, holdsCredentials } from '../address-credentials.js';
import { ownValue } from '../json.js';
import { hasVariables } from '../template.js';
import type { NodeDefinition } from './node-definition.js';
import { placementFields } from './placement.js';
import { connectionField, connectionTimeoutField, headersField, SECONDS_FORMAT } from './shared-fields.js';

const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
type HttpMethod = (typeof HTTP_METHODS)[number];

/** Returns the method for a name in any case, or undefined for an unknown name. */
export function toHttpMethod(word: string): HttpMethod | undefined {
  const upper = word.trim().toUpperCase();
  return HTTP_METHODS.find((method) => method === upper);
}

// A method with a variable is known only when the node runs.
const methodSchema = z
  .string()
  .refine((word) => hasVariables(word) || toHttpMethod(word) !== undefined, {
    error: "Input should be 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE' or 'OPTIONS'",
  })
  .default('GET')
  .meta({ examples: [...HTTP_METHODS] });

const settingsSchema = z.looseObject({
  timeout: z
    .number()
    .min(0.1)
    .max(300)
    .default(30)
    .describe('How long one attempt may take')
    .meta({ format: SECONDS_FORMAT }),
  fail_on_status: z.boolean().default(true).describe('An answer with a status of 400 or more fails the node'),
  response: z
    .enum(['text', 'auto', 'file'])
    .default('text')
    .describe('`file` makes a file of each body, `auto` (automatic) only of one that is neither text nor JSON')
    .meta({ start: 'auto', labels: { text: 'text', auto: 'automatic', file: 'file' } }),
  retry_unsafe: z
    .boolean()
    .default(false)
    .describe('A POST or PATCH request may be sent again if it is not known whether it has arrived'),
  connection_timeout: connectionTimeoutField,
  ...placementFields,
});

const WITHOUT = 'Field not permitted beside an action';

/**
 * The keys by which a node, or a tool of an agent, names its action. `withActions` (graph/actions/stored-actions.ts)
 * drops other facts that a client sends, and stores those that this product knows.
 */
export const actionName = {
  service: z.string().min(1).max(100).describe('The id of the service'),
  id: z.string().min(1).max(300).describe('The id of the action'),
};

export const valuesField = z
  .record(z.string(), z.unknown())
  .optional()
  .describe('By field of the action; may hold variables');

const action = z
  .looseObject(actionName)
  .optional()
  .describe('An action of a service, instead of `url`, `method`, `headers` and `body`')
  .meta({ format: 'action' });

const schema = z.looseObject({
  action,
  values: valuesField,
  url: z
    .string()
    .min(1)
    .refine((url) => !holdsCredentials(url), { error: CREDENTIALS_IN_ADDRESS })
    .describe('It may hold variables'),
  method: methodSchema,
  connection: connectionField,
  headers: headersField,
  body: z
    .unknown()
    .optional()
    .describe('Any JSON. `{"$file": FILE}` sends the bytes of a file, `{"$form": {...}}` sends multipart/form-data'),
  settings: settingsSchema.prefault({}),
});

export type HttpNodeData = z.infer<typeof schema>;

const absent = z.null({ error: WITHOUT }).optional();

/** The data of a node with an action. `actionErrors` checks its `values` against the fields of the action. */
export const httpActionSchema = schema.extend({
  action: z.looseObject(actionName),
  url: absent,
  headers: absent,
  body: absent,
  method: z.unknown().optional(),
});

export type ActionNodeData = z.infer<typeof httpActionSchema>;

/** Returns true if the node sends the request of an action. */
export function hasAction(data: Record<string, unknown>): boolean {
  const named = ownValue(data, 'action');
  return named !== undefined && named !== null;
}

const outputSchema = z.looseObject({
  content: z.string().describe('The body as text, or the name of its file'),
  status_code: z.int(),
  headers: z.record(z.string(), z.string()),
  set_cookie: z.array(z.string()).optional().describe('Each cookie that the answer sets'),
  file: z.unknown().optional().describe('The body, where it is a file'),
  json: z.unknown().optional().describe('The body, where it is JSON'),
});

export const httpNode = {
  kind: 'http',
  type: 'http-node',
  nodeType: 'HTTPNodeInput',
  title: 'HTTP request',
  description: 'Sends an HTTP request and gives the response.',
  category: 'Connections',
  example: { method: 'GET', url: 'https://api.example.com/items?q={{ input.text }}' },
  templateFields: ['url', 'method', 'headers', 'body', 'values'],
  templatePlaces: { url: 'text', method: 'text', 'headers.*': 'text', body: 'json', values: 'json' },
  schema,
  outputSchema,
} as const satisfies NodeDefinition;
