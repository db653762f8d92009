// Lists the tools of an MCP server for the visual editor (docs/use/interface-notes/mcp.md).
import { z } from 'zod';
import { openDrawing } from '../../acceptance/opened-drawing.js';
import { findProjectRole, findWorkflowRole } from '../../db/projects/members-repository.js';
import type { Reach } from '../../db/access/reach.js';
import { findDrawing } from '../../db/workflows/workflows-repository.js';
import { mayAct } from '../../acceptance/roles.js';
import { ConnectionOriginError } from '../../connections/credential.js';
import { ConnectionError, type OpenedConnection } from '../../connections/open-connection.js';
import { TokenError } from '../../connections/tokens.js';
import { findProjectOfConnection } from '../../db/connections/connections-repository.js';
import { createMasker } from '../../graph/mask.js';
import { isCredentialHeader } from '../../graph/credential-headers.js';
import { credentialTexts } from '../../graph/secrets.js';
import { cutText } from '../../graph/cut-text.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { isHeaderName, isHeaderValue, trimHeaderValue } from '../../outgoing/header-text.js';
import { McpError } from '../../outgoing/mcp-client.js';
import { isTool } from '../../outgoing/mcp-tools.js';
import type { McpServer } from '../../outgoing/mcp-types.js';
import type { McpClientDeps } from './deps.js';
import { ApiError, invalidFields, permissionDenied } from '../http/errors.js';
import { integerField, upTo } from '../http/field-errors.js';
import { MAX_ID } from '../http/path-ids.js';
import { routesOf, type Route } from '../http/route.js';
import { ignoreNoRoom, listTools, serversAt, storeRefusedOf, type ListedAgent } from './list-tools.js';
import { findStoredHeaders, mergeHeaders, type Headers } from './stored-mcp-headers.js';
import { withDrawing } from '../workflows/with-drawing.js';

const defineRoute = routesOf<McpClientDeps>();

const MAX_HEADERS = 100;
const MAX_URL_CHARACTERS = 8192;
const MAX_NODE_ID_CHARACTERS = 200;
const MAX_HEADER_CHARACTERS = 65_536;

const headerValues = z.union([z.string(), z.number(), z.boolean()], { error: 'Header values must be strings.' });
const headersSchema = upTo(MAX_HEADERS, z.record(z.string(), headerValues))
  .transform((headers): Headers =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, trimHeaderValue(`${value}`)])),
  )
  .refine((headers) => Object.entries(headers).every(([name, value]) => isHeaderName(name) && isHeaderValue(value)), {
    error: 'A header holds characters that headers cannot carry.',
  })
  .refine((headers) => Object.entries(headers).flat().join('').length <= MAX_HEADER_CHARACTERS, {
    error: `Ensure the headers have no more than ${MAX_HEADER_CHARACTERS} characters.`,
  });

const bodySchema = z
  .object({
    endpoint_url: z.string().min(1).max(MAX_URL_CHARACTERS).refine(isHttpUrl, { error: 'Enter a valid URL.' }),
    transport: z.enum(['auto', 'sse', 'streamable_http']).nullish(),
    headers: headersSchema.nullish(),
    timeout: z.number().min(0.1).max(30).nullish(),
    workflow_id: integerField().nullish(),
    node_id: z.string().min(1).max(MAX_NODE_ID_CHARACTERS).nullish(),
    connection: integerField().nullish().describe('A connection of a project in which the caller is an editor'),
  })
  .refine(({ workflow_id, node_id }) => isPresent(workflow_id) === isPresent(node_id), {
    error: 'workflow_id and node_id must be sent together.',
  });

type Body = z.infer<typeof bodySchema>;

/** A server's message is masked first and then cut to this length. */
const MAX_DETAIL_CHARACTERS = 500;

const mcpTools = defineRoute({
  method: 'POST',
  path: '/api/v1/workflows/mcp-tools/',
  isRead: true,
  summary: 'Lists the tools of an MCP server as the server describes them, all pages joined.',
  audit: { action: 'mcp_tools.listed', target: 'connection', records: 'refusals' },
  body: bodySchema,
  responses: { 200: z.array(z.record(z.string(), z.unknown())) },
  async handler({ deps, caller, body, tenant, signal, memory: ofRequest }) {
    const asked = await findAsked(deps, { caller, body, tenant, signal, memory: ofRequest });
    const headers = mergeHeaders(asked?.headers ?? {}, body.headers ?? {});
    const credentials = Object.entries(headers).filter(([name]) => isCredentialHeader(name));
    const masker = createMasker(credentials.flatMap(([, value]) => credentialTexts(value)));
    const bare: McpServer = {
      endpointUrl: body.endpoint_url,
      transport: body.transport ?? 'auto',
      headers,
      timeoutMs: (body.timeout ?? 10) * 1000,
    };
    const projectId = await projectOfConnection(deps, caller, body.connection);
    let used =
      projectId === undefined ? undefined : await orRefusal(deps.connections.open(projectId, body.connection!, signal));
    const memory = deps.memory.lease(tenant, signal);
    try {
      const ask = () => listTools(deps, withCredential(bare, used), { memory, signal }).catch(toMcpError);
      let outcome = await ask();
      if (used !== undefined && isRefused(outcome)) {
        const renewed = await orRefusal(deps.connections.renew(used, signal));
        if (renewed !== undefined) {
          used = renewed;
          outcome = await ask();
        }
      }
      if (used !== undefined && (isRefused(outcome) || !(outcome instanceof McpError))) {
        await ignoreNoRoom(deps.connections.note(used, isRefused(outcome)));
      }
      // A server may repeat the request in its answer. The caller may use a stored credential, but must not see its
      // secrets.
      const hide = createMasker(used?.credential.secretTexts ?? []);
      if (!(outcome instanceof McpError)) {
        const mask = (text: string): string => hide.text(masker.text(text));
        if (asked !== undefined) await storeRefusedOf(deps, asked, outcome, mask);
        return { status: 200, body: hide.json(masker.json(outcome.filter(isTool))) };
      }
      throw new ApiError(400, outcome.code, cutText(hide.text(masker.text(outcome.message)), MAX_DETAIL_CHARACTERS));
    } finally {
      memory.end();
    }
  },
});

export const mcpToolsRoutes: Route<McpClientDeps>[] = [mcpTools];

function isRefused(outcome: unknown): boolean {
  return outcome instanceof McpError && outcome.isUnauthorized;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

interface Asked extends ListedAgent {
  headers: Headers;
}

interface AskedRequest {
  caller: Reach;
  body: Body;
  tenant: string;
  signal: AbortSignal;
  memory: ByteLease;
}

/**
 * Reads the drawing in the queue for large drawings, as a route with `readsDrawing` does, and gives its memory back
 * before the server is asked.
 */
async function findAsked(
  { db, secretBox, heavyWork }: McpClientDeps,
  { caller, body, tenant, signal, memory }: AskedRequest,
): Promise<Asked | undefined> {
  const { workflow_id: workflowId, node_id: nodeId, endpoint_url: endpointUrl } = body;
  if (typeof workflowId !== 'number' || typeof nodeId !== 'string') return undefined;
  const isPossible = workflowId > 0 && workflowId <= MAX_ID;
  const access = isPossible ? await findWorkflowRole(db, workflowId, caller) : undefined;
  const unknown = () => invalidFields({ workflow_id: [`Invalid pk "${workflowId}" - object does not exist.`] });
  if (access === undefined) throw unknown();
  const before = memory.bytes;
  const asker = { tenant, projectId: access.projectId, signal, memory };
  const asked = await withDrawing({ db, heavyWork }, asker, { workflowId, form: 'parsed' }, async () => {
    const stored = await findDrawing(db, workflowId);
    if (stored === undefined) throw unknown();
    const headers = findStoredHeaders(openDrawing(secretBox, stored).drawing, nodeId, endpointUrl);
    const servers = serversAt(stored.document, nodeId, endpointUrl);
    return { workflowId, version: stored.version, nodeId, servers, headers };
  });
  await memory.resize(before);
  return asked;
}

/**
 * Returns the project of the connection; undefined if the body names none. Throws 400 for a connection that the caller
 * does not see, and 403 for a caller who is no editor of its project.
 */
async function projectOfConnection(
  deps: McpClientDeps,
  caller: Reach,
  id: number | null | undefined,
): Promise<number | undefined> {
  if (id === null || id === undefined) return undefined;
  const projectId = id > 0 && id <= MAX_ID ? await findProjectOfConnection(deps.db, id) : undefined;
  const access = projectId === undefined ? undefined : await findProjectRole(deps.db, projectId, caller);
  if (projectId === undefined || access === undefined) {
    throw invalidFields({ connection: [`Invalid pk "${id}" - object does not exist.`] });
  }
  if (!mayAct(access.role, 'editor')) throw permissionDenied();
  return projectId;
}

/** Throws 400 for a connection that cannot be used now. */
async function orRefusal<T>(opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof ConnectionError) throw new ApiError(400, error.code, error.message);
    if (error instanceof TokenError) throw new ApiError(400, 'provider_unreachable', error.message);
    throw error;
  }
}

/** Throws 400 for an address to which the connection's credential may not be sent. */
function withCredential(server: McpServer, used: OpenedConnection | undefined): McpServer {
  if (used === undefined) return server;
  try {
    const { url, headers } = used.credential.authorize({ url: new URL(server.endpointUrl), headers: server.headers });
    return { ...server, endpointUrl: url.href, headers };
  } catch (error) {
    if (error instanceof ConnectionOriginError) throw new ApiError(400, error.code, error.message);
    throw error;
  }
}

function toMcpError(error: unknown): McpError {
  if (error instanceof McpError) return error;
  throw error;
}
