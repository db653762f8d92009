// A provider of OAuth tokens on this machine that rotates refresh tokens, and an API that accepts its tokens. Both
// count their requests.
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startHttpServer } from '../../cli/sandbox/http-server.js';

export interface TokenProvider {
  url: string;
  /** The settings of a connection of the kind `oauth2`. */
  settings: Record<string, unknown>;
  clientSecret: string;
  /** The lifetime of access tokens that are issued from now on. */
  lifetimeSeconds: number;
  /** The lifetime in the answer, if it differs from the real one. */
  saidLifetime: unknown;
  /** The number of requests for tokens by a refresh token. */
  refreshes: number;
  /** The number of requests for tokens by client credentials. */
  clientTokens: number;
  /** The paths of calls that the API accepted. */
  accepted: string[];
  refused: number;
  /** All tokens and codes that were generated. */
  issued: string[];
  /** Called for each request for tokens, after the tokens are made and before the answer is sent. */
  beforeAnswer: ((grantType: string | null) => Promise<void>) | undefined;
  /** Called for each request for tokens, before the tokens are made. */
  beforeTokens: ((grantType: string | null) => Promise<void>) | undefined;
  /** The status and body of the answers to requests for tokens; undefined: tokens are issued. */
  answer: { status: number; body: object } | undefined;
  /** Makes the API refuse all access tokens issued so far. */
  expireTokens(): void;
  /** Revokes all grants. */
  revoke(): void;
  /** Returns true if the API accepts this token. */
  isValid(token: string): boolean;
  close: () => Promise<void>;
}

export async function startTokenProvider(): Promise<TokenProvider> {
  const access = new Map<string, number>();
  const refresh = new Set<string>();
  const codes = new Map<string, { challenge: string; redirectUri: string }>();
  const server = await startHttpServer((request, response) => handle(request, response));
  const clientSecret = `client-secret-${randomUUID()}`;
  const provider: TokenProvider = {
    url: server.url,
    settings: {
      authorize_url: `${server.url}/authorize`,
      token_url: `${server.url}/token`,
      client_id: 'workflow-service',
      scopes: ['read', 'write'],
    },
    clientSecret,
    lifetimeSeconds: 3_600,
    saidLifetime: undefined,
    refreshes: 0,
    clientTokens: 0,
    accepted: [],
    refused: 0,
    issued: [],
    beforeAnswer: undefined,
    beforeTokens: undefined,
    answer: undefined,
    expireTokens: () => access.clear(),
    revoke() {
      access.clear();
      refresh.clear();
    },
    isValid: (token) => (access.get(token) ?? 0) > Date.now(),
    close: () => server.close(),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', provider.url);
    if (url.pathname === '/authorize') return authorize(url, response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    if (url.pathname === '/token') return giveTokens(new URLSearchParams(body), request, response);
    const { authorization = '' } = request.headers;
    if (!provider.isValid(authorization.replace(/^Bearer /, ''))) {
      provider.refused += 1;
      return send(response, 401, { error: 'invalid_token' });
    }
    provider.accepted.push(`${request.method} ${url.pathname}`);
    return send(response, 200, { path: url.pathname, authorization, body });
  }

  function authorize(url: URL, response: ServerResponse): void {
    const code = randomUUID();
    provider.issued.push(code);
    const redirectUri = url.searchParams.get('redirect_uri') ?? '';
    codes.set(code, { challenge: url.searchParams.get('code_challenge') ?? '', redirectUri });
    const back = new URL(redirectUri);
    back.searchParams.set('code', code);
    back.searchParams.set('state', url.searchParams.get('state') ?? '');
    response.writeHead(302, { location: back.href }).end();
  }

  async function giveTokens(form: URLSearchParams, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const grant = form.get('grant_type');
    await provider.beforeTokens?.(grant);
    if (grant === 'refresh_token') provider.refreshes += 1;
    if (grant === 'client_credentials') provider.clientTokens += 1;
    if (provider.answer !== undefined) return send(response, provider.answer.status, provider.answer.body);
    const basic = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    const secret = form.get('client_secret') ?? decodeURIComponent(basic.split(':')[1] ?? '');
    if (secret !== clientSecret) return send(response, 401, { error: 'invalid_client' });
    if (grant === 'authorization_code') {
      const known = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const proof = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (known?.challenge !== proof || known.redirectUri !== form.get('redirect_uri')) {
        return send(response, 400, { error: 'invalid_grant' });
      }
    }
    // A refresh token is valid once.
    if (grant === 'refresh_token' && !refresh.delete(form.get('refresh_token') ?? '')) {
      return send(response, 400, { error: 'invalid_grant' });
    }
    const tokens = give(grant !== 'client_credentials');
    await provider.beforeAnswer?.(grant);
    send(response, 200, tokens);
  }

  function give(hasRefresh: boolean): object {
    const accessToken = `access-${randomUUID()}`;
    access.set(accessToken, Date.now() + provider.lifetimeSeconds * 1_000);
    const refreshToken = `refresh-${randomUUID()}`;
    if (hasRefresh) refresh.add(refreshToken);
    provider.issued.push(accessToken, refreshToken);
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: provider.saidLifetime ?? provider.lifetimeSeconds,
      email: 'ada@example.com',
      ...(hasRefresh && { refresh_token: refreshToken }),
    };
  }
  return provider;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
