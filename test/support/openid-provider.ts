// A real OpenID provider (the package oidc-provider) on this machine, with its own pages, which rotates refresh tokens;
// and an API that accepts its access tokens. Both count their requests.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

export interface OpenidProvider {
  url: string;
  clientId: string;
  clientSecret: string;
  /** The lifetime of access tokens that are issued from now on. */
  lifetimeSeconds: number;
  /** The grant types of requests for tokens that were granted. */
  granted: string[];
  /** The grant types and errors of requests for tokens that were refused. */
  refusedGrants: string[];
  /** The paths of calls that the API accepted, and the number of those that it refused. */
  accepted: string[];
  refused: number;
  /** Makes the API refuse all access tokens issued so far. */
  expireTokens(): Promise<void>;
  close(): Promise<void>;
}

/** `redirectUri`: the address at which the service accepts answers. */
export async function startOpenidProvider(redirectUri: string): Promise<OpenidProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: 'key', alg: 'RS256', use: 'sig' };
  const tokens = new Set<string>();
  const openid: OpenidProvider = {
    url: `http://127.0.0.1:${port}`,
    clientId: 'workflow service',
    clientSecret: `s/${randomBytes(16).toString('base64')}`,
    lifetimeSeconds: 3_600,
    granted: [],
    refusedGrants: [],
    accepted: [],
    refused: 0,
    async expireTokens() {
      for (const id of tokens) await (await provider.AccessToken.find(id))?.destroy();
      tokens.clear();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const provider = createProvider(openid, redirectUri, jwk);
  provider.on('access_token.saved', ({ jti }) => tokens.add(jti));
  provider.on('grant.success', ({ oidc }) => openid.granted.push(String(oidc.params?.['grant_type'])));
  provider.on('grant.error', ({ oidc }, { error }) =>
    openid.refusedGrants.push(`${String(oidc.params?.['grant_type'])} ${error}`),
  );
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/api/') === true) void callApi(provider, openid, request, response);
    else void answer(request, response);
  });
  return openid;
}

function createProvider(openid: OpenidProvider, redirectUri: string, jwk: object): Provider {
  return new Provider(openid.url, {
    clients: [
      {
        client_id: openid.clientId,
        client_secret: openid.clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        token_endpoint_auth_method: 'client_secret_post',
      },
      {
        client_id: 'public',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
      },
      {
        client_id: 'by basic',
        client_secret: openid.clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['client_credentials'],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    jwks: { keys: [jwk] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    features: { clientCredentials: { enabled: true } },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, email: `${sub}@example.com` }) }),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: ['openid', 'offline_access', 'email', 'all'],
    ttl: { AccessToken: () => openid.lifetimeSeconds, ClientCredentials: () => openid.lifetimeSeconds },
  });
}

async function callApi(
  provider: Provider,
  openid: OpenidProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  request.resume();
  const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
  const found = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
  const isAccepted = found?.isExpired === false;
  if (isAccepted) openid.accepted.push(request.url ?? '');
  else openid.refused += 1;
  response.writeHead(isAccepted ? 200 : 401, { 'content-type': 'application/json' });
  response.end(JSON.stringify(isAccepted ? { said: request.headers.authorization } : { error: 'invalid_token' }));
}
