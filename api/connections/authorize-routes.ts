// Signs in at a provider for a connection: a browser goes from a page of the console to the provider and back.
import { z } from 'zod';
import { deliverWakes } from '../../acceptance/wake-run.js';
import { needsSignIn, type SecretsOf, type SettingsOf } from '../../connections/kinds.js';
import { startMcpSignIn, exchangeMcp } from '../../connections/mcp-oauth.js';
import { startOauthSignIn, exchangeAuthorizationCode } from '../../connections/oauth.js';
import { createProviderFetch } from '../../connections/provider-fetch.js';
import { TokenError, type McpGrant, type StoredTokens } from '../../connections/tokens.js';
import { findConnection } from '../../db/connections/connections-repository.js';
import {
  insertSignIn,
  stateName,
  redeemSignIn,
  type RedeemedSignIn,
} from '../../db/connections/sign-ins-repository.js';
import { storeSignedIn } from '../../db/connections/tokens-repository.js';
import { randomToken } from '../../db/core/random-token.js';
import type { ConnectionDeps } from './deps.js';
import { nothing } from '../http/answer-schemas.js';
import { ApiError, notFound, orNotFound } from '../http/errors.js';
import { routesOf, type Route } from '../http/route.js';
import { readCookie, toCookie } from '../sessions/refresh-cookie.js';
import { visitOf } from '../sessions/visit.js';
import { openEntered } from './connection-view.js';
import { connectionParams, connectionPath } from './routes.js';

const defineRoute = routesOf<ConnectionDeps>();

const CALLBACK_PATH = '/api/v1/connections/callback/';
/** Each sign-in has a cookie of its own, so that one browser can begin several. */
const cookieName = (state: string): string => `wfa_connection_${stateName(state)}`;
const COOKIE_SECONDS = 600;

/** The data that completes the sign-in. It is stored, sealed, until the browser comes back. */
interface Flow {
  verifier: string;
  grant?: McpGrant;
}

const authorize = defineRoute({
  method: 'POST',
  path: `${connectionPath}authorize/`,
  summary: 'Begins to sign in at the provider of a connection: the browser goes to the address.',
  description:
    'For sessions only. The answer sets a cookie, so that the sign-in counts in this browser alone, once, for ten minutes. ' +
    'The provider sends the browser to `/api/v1/connections/callback/`, and that to the settings of the project.',
  auth: 'session',
  audit: { action: 'connection.authorized', target: 'connection', id: 'connection_id', records: 'refusals' },
  access: { to: 'project', role: 'admin' },
  params: connectionParams,
  responses: { 200: z.object({ url: z.url() }) },
  async handler(context) {
    const { deps, caller, params, signal } = context;
    const { id: projectId, connection_id: id } = params;
    const connection = orNotFound(await findConnection(deps.db, projectId, id));
    if (!needsSignIn(connection.kind)) {
      throw new ApiError(400, 'not_oauth', 'Nobody signs in for a connection of this kind.');
    }
    const state = randomToken();
    const redirectUri = `${deps.config.publicUrl}${CALLBACK_PATH}`;
    const secrets = openEntered(deps.secretBox, connection);
    const { url, ...flow } = await begin(deps, { ...connection, secrets }, { redirectUri, state, signal });
    const { isSecure } = visitOf(context);
    const cookie = randomToken();
    const flowEnc = deps.secretBox.seal(JSON.stringify(flow satisfies Flow), 'connection-flow', id, stateName(state));
    const signIn = { connectionId: id, version: connection.version, userId: caller.userId, state, cookie, flowEnc };
    if (!(await insertSignIn(deps.db, signIn))) throw notFound();
    return { status: 200, body: { url }, headers: { 'Set-Cookie': toFlowCookie(state, cookie, isSecure) } };
  },
});

/** Other parameters of a provider's answer are ignored. */
const answerSchema = z.object({
  state: z.string().max(200).optional(),
  code: z.string().max(8_192).optional(),
  error: z.string().max(200).optional(),
  iss: z.string().max(2_048).optional(),
});

const callback = defineRoute({
  method: 'GET',
  path: CALLBACK_PATH,
  summary: 'Takes the answer of a provider, and sends the browser to the settings of the project.',
  description: 'Where the sign-in has failed, the address of the page has `error=` with the reason.',
  auth: 'open',
  audit: { action: 'connection.authorized', target: 'connection', commits: 'handler' },
  query: answerSchema,
  responses: { 303: nothing },
  async handler(context) {
    const { deps, query, requestHeaders, log } = context;
    const { isSecure } = visitOf(context);
    const { state } = query;
    const cookie = state === undefined ? undefined : readCookie(requestHeaders, cookieName(state), isSecure);
    const found = cookie === undefined || state === undefined ? undefined : await redeemSignIn(deps.db, state, cookie);
    if (found === undefined || state === undefined) return toSettings(deps, undefined, 'invalid_state');
    if (query.code === undefined) return toSettings(deps, found.projectId, toCode(query.error));
    try {
      const network = createProviderFetch(deps.outgoing);
      const flow = openFlow(deps, found, state);
      // A code that another server issued is not exchanged: the server of this sign-in would learn the code. Only the
      // issuers of MCP servers (`grant`) are known.
      if (query.iss !== undefined && flow.grant !== undefined && flow.grant.metadata.issuer !== query.iss) {
        return toSettings(deps, found.projectId, 'provider_refused');
      }
      const tokens = await exchange(deps, { found, flow, code: query.code }, network);
      const signedIn = {
        id: found.id,
        version: found.version,
        account: network.account(),
        tokensEnc: deps.secretBox.seal(JSON.stringify(tokens), 'connection-tokens', found.projectId, found.id),
        expiresAt: tokens.expiresAtMs === undefined ? null : new Date(tokens.expiresAtMs),
      };
      const woken = await context.audit.change((trx) => storeSignedIn(trx, signedIn), {
        keyOf: (waits) => (waits === undefined ? undefined : { id: found.id, projectId: found.projectId }),
        userOf: () => found.userId,
      });
      if (woken === undefined) return toSettings(deps, found.projectId, 'changed');
      await deliverWakes({ ...deps, logger: log }, woken);
      return toSettings(deps, found.projectId);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      log.info({ connection_id: found.id, outcome: error.outcome }, 'a sign-in at a provider has failed');
      return toSettings(
        deps,
        found.projectId,
        error.outcome === 'unreachable' ? 'provider_unreachable' : 'provider_refused',
      );
    }
  },
});

export const authorizeRoutes: Route<ConnectionDeps>[] = [authorize, callback];

interface ToSignIn {
  kind: 'oauth2' | 'mcp_oauth';
  settings: Record<string, unknown>;
  secrets: Record<string, unknown>;
}

/** Throws 400 for a provider that cannot be signed in at, or 503 for one that cannot be reached. */
async function begin(
  deps: ConnectionDeps,
  { kind, settings, secrets }: Omit<ToSignIn, 'kind'> & { kind: string },
  { signal, ...asked }: { redirectUri: string; state: string; signal: AbortSignal },
): Promise<Flow & { url: string }> {
  try {
    if (kind === 'oauth2') return await startOauthSignIn({ settings: settings as SettingsOf<'oauth2'> }, asked);
    const provider = { settings: settings as SettingsOf<'mcp_oauth'>, secrets: secrets as SecretsOf<'mcp_oauth'> };
    return await startMcpSignIn(provider, createProviderFetch(deps.outgoing, signal), asked);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    const isAway = error.outcome === 'unreachable';
    throw new ApiError(isAway ? 503 : 400, isAway ? 'provider_unreachable' : 'provider_refused', error.message);
  }
}

function openFlow({ secretBox }: ConnectionDeps, { id, flowEnc }: RedeemedSignIn, state: string): Flow {
  return JSON.parse(secretBox.open(flowEnc, 'connection-flow', id, stateName(state))) as Flow;
}

function exchange(
  { secretBox, config }: ConnectionDeps,
  { found, flow, code }: { found: RedeemedSignIn; flow: Flow; code: string },
  network: ReturnType<typeof createProviderFetch>,
): Promise<StoredTokens> {
  const redirectUri = `${config.publicUrl}${CALLBACK_PATH}`;
  const answer = { code, verifier: flow.verifier, redirectUri };
  if (flow.grant !== undefined) return exchangeMcp(flow.grant, network, answer);
  const secrets = openEntered(secretBox, found) as SecretsOf<'oauth2'>;
  return exchangeAuthorizationCode({ settings: found.settings as SettingsOf<'oauth2'>, secrets }, network, answer);
}

/**
 * Redirects to the console's page for the project's connections. Without a project, that page shows the person's first
 * project.
 */
function toSettings({ config }: ConnectionDeps, projectId: number | undefined, error?: string) {
  const query = new URLSearchParams({
    tab: 'connections',
    ...(projectId !== undefined && { project: String(projectId) }),
    ...(error !== undefined && { error }),
  });
  return { status: 303, headers: { Location: `${config.publicUrl}/settings?${query.toString()}` } };
}

/** Passes on only texts that have the form of OAuth's error codes, because an attacker may write other text. */
function toCode(error: string | undefined): string {
  return error !== undefined && /^[a-z_]{1,50}$/.test(error) ? error : 'provider_refused';
}

/**
 * The cookie is Lax, because the provider's page leads the browser to the callback: a navigation from another site does
 * not send a Strict cookie.
 */
function toFlowCookie(state: string, value: string, isSecure: boolean): string {
  const facts = { path: CALLBACK_PATH, sameSite: 'Lax', isSecure, maxAgeSeconds: COOKIE_SECONDS } as const;
  return toCookie({ name: cookieName(state), value, ...facts });
}
