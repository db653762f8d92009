// Gets the tokens of MCP servers with the functions of the official SDK: discovery, registration, and the
// token requests. The SDK's transports are not used for that, because they refresh tokens by themselves,
// outside the lease of open-connection.ts.
import {
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  refreshAuthorization,
  registerClient,
  startAuthorization,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { OAuthError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { SecretsOf, SettingsOf } from './kinds.js';
import type { StartedSignIn } from './oauth.js';
import type { ProviderFetch } from './provider-fetch.js';
import { TokenError, toStoredTokens, tokenErrorIn, toTokenError, type McpGrant, type StoredTokens } from './tokens.js';

interface McpProvider {
  settings: SettingsOf<'mcp_oauth'>;
  secrets: SecretsOf<'mcp_oauth'>;
}

const CLIENT_NAME = 'Workflow Automation Service';

/**
 * Finds the authorization server, registers this service there if the connection has no client id, and starts the
 * sign-in. Throws `TokenError`, for example if the server does not follow the specification.
 */
export async function startMcpSignIn(
  { settings, secrets }: McpProvider,
  { fetch }: ProviderFetch,
  { redirectUri, state }: { redirectUri: string; state: string },
): Promise<StartedSignIn & { grant: McpGrant }> {
  return orTokenError(async () => {
    const asked = await challengeOf(settings.server_url, fetch);
    const found = await discoverOAuthServerInfo(settings.server_url, { ...asked.where, fetchFn: fetch });
    const { authorizationServerUrl: server, authorizationServerMetadata: metadata, resourceMetadata } = found;
    if (metadata === undefined) throw unfit('it does not tell where its authorization server is');
    // The sign-in is protected by PKCE, so the server must support it.
    if (metadata.code_challenge_methods_supported?.includes('S256') !== true)
      throw unfit('it does not know PKCE with S256');
    const resource = resourceOf(settings.server_url, resourceMetadata?.resource);
    const scope = settings.scopes?.join(' ') ?? asked.scope ?? resourceMetadata?.scopes_supported?.join(' ') ?? '';
    const client = await clientOf({ settings, secrets }, server, { metadata, redirectUri, fetch });
    const { authorizationUrl, codeVerifier } = await startAuthorization(server, {
      metadata,
      clientInformation: client,
      redirectUrl: redirectUri,
      state,
      resource,
      ...(scope !== '' && { scope }),
    });
    return { url: authorizationUrl.href, verifier: codeVerifier, grant: { metadata, client, resource } };
  });
}

/** Throws `TokenError`. */
export function exchangeMcp(
  grant: McpGrant,
  { fetch }: ProviderFetch,
  { code, verifier, redirectUri }: { code: string; verifier: string; redirectUri: string },
): Promise<StoredTokens> {
  const { metadata, client, resource } = grant;
  return orTokenError(async () => {
    const issued = await exchangeAuthorization(metadata.issuer, {
      metadata,
      clientInformation: client,
      authorizationCode: code,
      codeVerifier: verifier,
      redirectUri,
      resource,
      fetchFn: fetch,
    });
    return toStoredTokens(issued, { mcp: grant });
  });
}

/**
 * Throws `TokenError`. A client id in the settings is used with its present secret, which may have changed since the
 * sign-in. A client that this service has registered is stored only in the grant.
 */
export function refreshMcp(
  provider: McpProvider,
  { fetch }: ProviderFetch,
  before: StoredTokens & { mcp: McpGrant },
): Promise<StoredTokens> {
  const { metadata, resource } = before.mcp;
  const client = enteredClient(provider) ?? before.mcp.client;
  return orTokenError(async () => {
    const issued = await refreshAuthorization(metadata.issuer, {
      metadata,
      clientInformation: client,
      refreshToken: before.refreshToken ?? '',
      resource,
      fetchFn: fetch,
    });
    return toStoredTokens(issued, { ...before, mcp: { ...before.mcp, client } });
  });
}

/**
 * Returns the challenge of the server to a request without a token: the address of its
 * metadata, and the required scope.
 */
async function challengeOf(
  serverUrl: string,
  fetch: ProviderFetch['fetch'],
): Promise<{ where: { resourceMetadataUrl?: URL }; scope?: string | undefined }> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const headers = { 'content-type': 'application/json' };
  // A server that does not answer this request may still have its metadata at the standard place.
  const answer = await fetch(serverUrl, { method: 'POST', headers, body }).catch(() => undefined);
  if (answer?.status !== 401) return { where: {} };
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(answer);
  return { where: resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }, scope };
}

interface Registration {
  metadata: McpGrant['metadata'];
  redirectUri: string;
  fetch: ProviderFetch['fetch'];
}

/** Returns undefined if nobody has entered a client id. */
function enteredClient({ settings, secrets }: McpProvider): OAuthClientInformationMixed | undefined {
  if (settings.client_id === undefined) return undefined;
  const { client_secret: secret } = secrets;
  return { client_id: settings.client_id, ...(secret !== undefined && { client_secret: secret }) };
}

async function clientOf(
  provider: McpProvider,
  server: string,
  { metadata, redirectUri, fetch }: Registration,
): Promise<OAuthClientInformationMixed> {
  const entered = enteredClient(provider);
  if (entered !== undefined) return entered;
  if (metadata.registration_endpoint === undefined) throw unfit('it registers no clients: enter a client id');
  return registerClient(server, {
    metadata,
    fetchFn: fetch,
    clientMetadata: {
      client_name: CLIENT_NAME,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
  });
}

/**
 * Returns the resource that the server reports, or the server's address if it reports none. Throws unless the resource
 * is the server itself or encloses it.
 */
function resourceOf(serverUrl: string, reported: string | undefined): string {
  const server = new URL(serverUrl);
  server.hash = '';
  if (reported === undefined) return server.href;
  const resource = URL.canParse(reported) ? new URL(reported) : undefined;
  const isOurs =
    resource?.origin === server.origin && `${server.pathname}/`.startsWith(`${resource.pathname.replace(/\/$/, '')}/`);
  if (!isOurs) throw unfit('it names another server as its resource');
  return reported;
}

function unfit(why: string): TokenError {
  return new TokenError('refused', `The MCP server cannot be signed in at: ${why}.`);
}

async function orTokenError<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw tokenErrorIn(error) ?? toTokenError(error instanceof OAuthError ? error.errorCode : undefined);
  }
}
