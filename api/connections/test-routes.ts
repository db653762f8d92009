// Tests a connection: sends a GET to an address at one of its origins, or lists the tools of its MCP server.
import { z } from 'zod';
import { ConnectionOriginError } from '../../connections/credential.js';
import { ConnectionError, type OpenedConnection } from '../../connections/open-connection.js';
import { isWithin } from '../../graph/origins.js';
import { TokenError } from '../../connections/tokens.js';
import { findConnection, type ConnectionRecord } from '../../db/connections/connections-repository.js';
import { touchConnection } from '../../db/connections/tokens-repository.js';
import { createMasker } from '../../graph/mask.js';
import { cutText } from '../../graph/cut-text.js';
import { McpError } from '../../outgoing/mcp-client.js';
import { addressOf, causeCode } from '../../outgoing/network-error.js';
import { OutgoingError } from '../../outgoing/outgoing-client.js';
import type { ConnectionDeps } from './deps.js';
import { invalidFields, orNotFound } from '../http/errors.js';
import { routesOf, type Route } from '../http/route.js';
import { connectionParams, connectionPath } from './routes.js';

const defineRoute = routesOf<ConnectionDeps>();

const TIMEOUT_MS = 15_000;
const MOST_CHARACTERS = 500;

/**
 * `status` is null if the request was not sent or got no final answer, and for every error of an MCP server except 401.
 */
interface Outcome {
  ok: boolean;
  status: number | null;
  message: string;
}

const test = defineRoute({
  method: 'POST',
  path: `${connectionPath}test/`,
  summary: 'Tries the connection: a GET at one of its origins, or the list of tools of its MCP server.',
  description:
    'Without `url`, the request goes to `/` of the first origin (for a `path` connection, to its prefix there), or to ' +
    'the `server_url` of an `mcp_oauth` connection. ' +
    'If the first origin has a wildcard, `url` is required.',
  audit: { action: 'connection.used', target: 'connection', id: 'connection_id', commits: 'handler' },
  access: { to: 'project', role: 'editor' },
  params: connectionParams,
  body: z.object({ url: z.string().max(2_048).nullish() }),
  responses: { 200: z.object({ ok: z.boolean(), status: z.int().nullable(), message: z.string() }) },
  async handler({ deps, params, body, signal, audit }) {
    const { id: projectId, connection_id: id } = params;
    const connection = orNotFound(await findConnection(deps.db, projectId, id));
    const url = toUrl(body.url ?? defaultAddress(connection), connection.origins);
    await audit.change((trx) => touchConnection(trx, id), { keyOf: () => ({ id, projectId }) });
    const isMcp = connection.kind === 'mcp_oauth';
    const outcome = await tryOnce(deps, { projectId, id, url, isMcp, signal });
    const isPrefixAlone = connection.kind === 'path' && (body.url ?? null) === null;
    if (isPrefixAlone && !outcome.ok && outcome.status !== null) outcome.message += PREFIX_ALONE;
    return { status: 200, body: outcome };
  },
});

export const connectionTestRoutes: Route<ConnectionDeps>[] = [test];

/** Many services have nothing at the prefix followed by the secret alone, and answer 404 even to a valid secret. */
const PREFIX_ALONE =
  ' The request has gone to the prefix and the value alone, which may lead nowhere; `url` names another address.';

/** A credential of the kind `path` is only sent to addresses whose path begins with its prefix. */
function defaultAddress({ kind, settings, origins }: ConnectionRecord): string {
  if (kind === 'mcp_oauth') return String(settings['server_url']);
  return `${origins[0]!}${kind === 'path' ? String(settings['prefix']) : '/'}`;
}

function toUrl(text: string, origins: readonly string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && url.username === '' && url.password === '' && isWithin(origins, url)) return url;
  throw invalidFields({ url: ['Enter an address at one of the origins of the connection.'] });
}

interface Asked {
  projectId: number;
  id: number;
  url: URL;
  isMcp: boolean;
  signal: AbortSignal;
}

/** Asks once more if the credential is refused and can be renewed, as a node does. */
async function tryOnce(deps: ConnectionDeps, asked: Asked): Promise<Outcome> {
  try {
    let used = await deps.connections.open(asked.projectId, asked.id, asked.signal);
    let outcome = await ask(deps, asked, used);
    if (outcome.status === 401) {
      const renewed = await deps.connections.renew(used, asked.signal);
      if (renewed !== undefined) outcome = await ask(deps, asked, (used = renewed));
    }
    if (outcome.status !== null) await deps.connections.note(used, outcome.status === 401);
    return outcome;
  } catch (error) {
    if (error instanceof ConnectionError || error instanceof TokenError || error instanceof ConnectionOriginError) {
      return { ok: false, status: null, message: error.message };
    }
    throw error;
  }
}

async function ask(deps: ConnectionDeps, asked: Asked, { credential }: OpenedConnection): Promise<Outcome> {
  const masker = createMasker(credential.secretTexts);
  const outcome = asked.isMcp ? await listTools(deps, asked, credential) : await get(deps, asked, credential);
  return { ...outcome, message: cutText(masker.text(outcome.message), MOST_CHARACTERS) };
}

type Asking = OpenedConnection['credential'];

async function get({ outgoing }: ConnectionDeps, { url, signal }: Asked, { authorize }: Asking): Promise<Outcome> {
  try {
    const headers = { 'user-agent': 'workflow-automation-service', accept: '*/*' };
    const answer = await outgoing.send({
      url,
      method: 'GET',
      headers,
      body: undefined,
      timeoutMs: TIMEOUT_MS,
      signal,
      authorize,
      readBody: false,
    });
    const { status } = answer;
    return { ok: status < 400, status, message: `The server has answered with status ${status}.` };
  } catch (error) {
    signal.throwIfAborted();
    // A redirect may lead to an address that contains the credential, so the message is masked like any other.
    const isExplained = error instanceof OutgoingError || error instanceof ConnectionOriginError;
    const message = isExplained
      ? error.message
      : `The request to ${addressOf(error) ?? url.host} failed: ${causeCode(error)}.`;
    return { ok: false, status: null, message };
  }
}

async function listTools({ mcp }: ConnectionDeps, { url, signal }: Asked, credential: Asking): Promise<Outcome> {
  const { url: endpoint, headers } = credential.authorize({ url, headers: {} });
  const server = { endpointUrl: endpoint.href, transport: 'auto', headers, timeoutMs: TIMEOUT_MS } as const;
  try {
    const session = await mcp.connect(server, signal);
    try {
      const tools = await session.listTools(signal);
      return { ok: true, status: 200, message: `The server has ${tools.length} tools.` };
    } finally {
      void session.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof McpError)) throw error;
    return { ok: false, status: error.isUnauthorized ? 401 : null, message: error.message };
  }
}
