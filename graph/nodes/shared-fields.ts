// Fields that the schemas of several kinds share.
import { z } from 'zod';
import { CREDENTIALS_IN_ADDRESS, holdsCredentials } from '../address-credentials.js';
import { isObject } from '../json.js';
import { MAX_LISTED_HANDLES } from '../plan.js';

/**
 * The `sourceHandle` of error edges (`error`), and of the fixed exits that kinds have beside their list: `default` of a
 * switch and `timeout` of a human task. An item must not have such an id, because the id of an item is the
 * `sourceHandle` of the item's own edges.
 */
const RESERVED = ['default', 'error', 'timeout'];

/** A list of items whose `id` names a handle of the node. Ids are unique and not reserved. */
export function listOfHandles<Item extends z.ZodType>(item: Item, most: number) {
  return z
    .array(item)
    .min(1)
    .max(Math.min(most, MAX_LISTED_HANDLES))
    .superRefine(
      (items: unknown, context) => {
        for (const { index, id } of takenIds(items)) {
          context.addIssue({ code: 'custom', path: [index, 'id'], message: `Input should be another id than '${id}'` });
        }
      },
      // Runs even if other checks of the list have failed, so that all mistakes are reported at once. `items` is
      // therefore unchecked.
      { when: () => true },
    );
}

/** Returns the items whose id is reserved, or is that of an earlier item. */
function takenIds(items: unknown): { index: number; id: string }[] {
  if (!Array.isArray(items)) return [];
  const seen = new Set<string>(RESERVED);
  return items.slice(0, MAX_LISTED_HANDLES).flatMap((item: unknown, index) => {
    if (!isObject(item) || typeof item['id'] !== 'string') return [];
    const { id } = item;
    const isRepeated = seen.has(id);
    seen.add(id);
    return isRepeated ? [{ index, id }] : [];
  });
}

// Fields of nodes that send requests.

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const headerSchema = z.union([z.string(), z.number(), z.boolean()], {
  error: 'Input should be a valid string, number or boolean',
});

export const headersField = z.record(z.string(), headerSchema).default({}).describe('The values may hold variables');

/** The `format` of a field with the id of a connection of the project. Editors offer the connections. */
const CONNECTION_ID_FORMAT = 'connection-id';

/**
 * The `format` of a field with the name of a tool, or a list of such names, of the MCP server in the fields beside it.
 */
export const MCP_TOOL_FORMAT = 'mcp-tool';

/** The connection whose credential is sent (docs/use/connections.md). */
export const connectionField = z
  .int()
  .min(1)
  .max(2_147_483_647)
  .nullish()
  .describe('The service sends the credential of this connection')
  .meta({ title: 'Connection', format: CONNECTION_ID_FORMAT });

/** The `format` of a length of time in seconds. Editors also offer minutes, hours and days. */
export const SECONDS_FORMAT = 'seconds';

/** A week. */
export const DEFAULT_CONNECTION_SECONDS = 7 * 24 * 3600;

export const connectionTimeoutField = z
  .number()
  .min(60)
  .max(30 * 24 * 3600)
  .nullish()
  .describe('How long the node waits until somebody has signed in for its connection. Empty: a week')
  .meta({ format: SECONDS_FORMAT });

export const mcpServerFields = {
  // Variables in this address are not filled in, because a value could send the secret headers to another server.
  endpoint_url: z
    .string()
    .refine(isHttpUrl, { error: 'Input should be a valid http or https URL' })
    .refine((url) => !holdsCredentials(url), { error: CREDENTIALS_IN_ADDRESS })
    .describe('The address of the MCP server. It must hold no variables'),
  transport: z
    .enum(['auto', 'sse', 'streamable_http'])
    .default('auto')
    .describe('`auto` finds out which transport the server speaks')
    .meta({ labels: { auto: 'automatic', sse: 'SSE', streamable_http: 'streamable HTTP' } }),
  headers: headersField,
  connection: connectionField,
  timeout: z
    .number()
    .min(0.1)
    .max(30)
    .default(10)
    .describe('How long connecting may take')
    .meta({ format: SECONDS_FORMAT }),
};

// Files of messages, human tasks and results (docs/use/files.md).

const WRONG_FILE = 'Input should be a file, or a variable that gives one';

/** A text that is exactly one `{{ ... }}`, or empty. */
const fileVariable = z.string().regex(/^(?:\{\{[^{}]*\}\})?$/, { error: WRONG_FILE });
const fileLiteral = z.looseObject({ file_id: z.string().min(1) }, { error: WRONG_FILE });

export const MAX_LISTED_FILES = 100;

/** Editors offer files, and variables whose values are files. */
export function filesField(description: string) {
  return z
    .union([z.array(z.union([fileLiteral, fileVariable], { error: WRONG_FILE })).max(MAX_LISTED_FILES), fileVariable], {
      error: 'Input should be a list of files, or a variable that gives files',
    })
    .nullish()
    .describe(`${description}: a list of files, or one variable that gives a file or a list`)
    .meta({ format: 'files' });
}

export const filesOutput = z
  .array(z.looseObject({ file_id: z.string(), name: z.string(), type: z.string(), size: z.int(), sha256: z.string() }))
  .optional()
  .describe('The files that tools gave');

export const messagesField = z
  .array(
    z.looseObject({
      role: z
        .string()
        .min(1)
        .describe('Who says it: system, user or assistant')
        .meta({ examples: ['system', 'user', 'assistant'] }),
      message: z.string().min(1).describe('It may hold variables'),
      files: filesField('Files that the model gets with the message'),
    }),
  )
  .min(1);

/** The `format` of a field with the name of a model. Editors offer those of `GET /api/v1/models/`. */
const MODEL_FORMAT = 'model';

export const modelFields = {
  model_name: z
    .string()
    .min(1)
    // Outside clients may use a workflow as a model; nodes may not.
    .refine((name) => !name.startsWith('workflow:'), 'Input should be a model, and no workflow')
    .describe('The name of the model in the list of the operator')
    .meta({ format: MODEL_FORMAT }),
  temperature: z.number().min(0).max(2).nullish().describe('With a higher value the answers vary more'),
};

export const MAX_WAIT_SECONDS = 30 * 24 * 3600;
export const DEFAULT_TIMEOUT_SECONDS = 3 * 24 * 3600;

/** How long a node waits for a person or a callback. */
export function timeoutField(description: string) {
  return z.number().min(0).max(MAX_WAIT_SECONDS).nullish().describe(description).meta({ format: SECONDS_FORMAT });
}
