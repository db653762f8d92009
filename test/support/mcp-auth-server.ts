// A real MCP server of the official SDK that demands a token, and the SDK's authorization server with our own provider:
// it registers clients, binds tokens to the requested resource, and rotates refresh tokens.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { OAuthRegisteredClientsStore } from '@modelcontextprotocol/sdk/server/auth/clients.js';
import { InvalidGrantError, InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import type { AuthorizationParams, OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js';
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type {
  OAuthClientInformationFull,
  OAuthTokenRevocationRequest,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { z } from 'zod';
import { echoesOf } from './canary.js';

export interface McpAuthServer {
  /** The address of the MCP endpoint. */
  url: string;
  origin: string;
  clients: OAuthClientInformationFull[];
  /** All tokens that were issued. */
  issued: string[];
  /** The resources in sign-ins and in requests for tokens. */
  resources: (string | undefined)[];
  refreshes: number;
  calls: string[];
  /** Adds a client that has a secret. */
  addClient(client: { id: string; secret: string; redirectUri: string }): void;
  /** Makes the MCP server refuse all access tokens issued so far. */
  expireTokens(): void;
  /** Revokes all grants. */
  revoke(): void;
  close(): Promise<void>;
}

interface Grant {
  clientId: string;
  resource: string | undefined;
  scopes: string[];
}

type Page = Parameters<OAuthServerProvider['authorize']>[2];

class TestProvider implements OAuthServerProvider {
  readonly clients = new Map<string, OAuthClientInformationFull>();
  readonly access = new Map<string, Grant>();
  readonly refresh = new Map<string, Grant>();
  readonly resources: (string | undefined)[] = [];
  readonly issued: string[] = [];
  refreshes = 0;
  private readonly codes = new Map<string, Grant & { challenge: string }>();

  get clientsStore(): OAuthRegisteredClientsStore {
    return {
      getClient: (id) => this.clients.get(id),
      registerClient: (client) => {
        const made = { ...client, client_id: randomUUID(), client_id_issued_at: 0 };
        this.clients.set(made.client_id, made);
        return made;
      },
    };
  }

  async authorize({ client_id: clientId }: OAuthClientInformationFull, params: AuthorizationParams, res: Page) {
    const code = randomUUID();
    const { codeChallenge: challenge, scopes = [], redirectUri, state } = params;
    this.resources.push(params.resource?.href);
    this.codes.set(code, { clientId, challenge, resource: params.resource?.href, scopes });
    const back = new URL(redirectUri);
    back.searchParams.set('code', code);
    if (state !== undefined) back.searchParams.set('state', state);
    res.redirect(back.href);
    return Promise.resolve();
  }

  challengeForAuthorizationCode(_client: OAuthClientInformationFull, code: string): Promise<string> {
    const found = this.codes.get(code);
    return found === undefined
      ? Promise.reject(new InvalidGrantError('no such code'))
      : Promise.resolve(found.challenge);
  }

  async exchangeAuthorizationCode(
    { client_id: clientId }: OAuthClientInformationFull,
    code: string,
    _verifier?: string,
    _redirectUri?: string,
    resource?: URL,
  ): Promise<OAuthTokens> {
    this.resources.push(resource?.href);
    const grant = this.codes.get(code);
    this.codes.delete(code);
    if (grant?.clientId !== clientId || grant.resource !== resource?.href) throw new InvalidGrantError('another code');
    return Promise.resolve(this.give(grant));
  }

  async exchangeRefreshToken(
    { client_id: clientId }: OAuthClientInformationFull,
    token: string,
    _scopes?: string[],
    resource?: URL,
  ): Promise<OAuthTokens> {
    this.resources.push(resource?.href);
    this.refreshes += 1;
    const grant = this.refresh.get(token);
    this.refresh.delete(token);
    if (grant?.clientId !== clientId || grant.resource !== resource?.href) throw new InvalidGrantError('another token');
    return Promise.resolve(this.give(grant));
  }

  verifyAccessToken(token: string): Promise<AuthInfo> {
    const grant = this.access.get(token);
    if (grant === undefined) return Promise.reject(new InvalidTokenError('no such token'));
    const { clientId, scopes, resource } = grant;
    const expiresAt = Math.floor(Date.now() / 1_000) + 60;
    return Promise.resolve({
      token,
      clientId,
      scopes,
      expiresAt,
      ...(resource !== undefined && { resource: new URL(resource) }),
    });
  }

  revokeToken(_client: OAuthClientInformationFull, { token }: OAuthTokenRevocationRequest): Promise<void> {
    this.access.delete(token);
    this.refresh.delete(token);
    return Promise.resolve();
  }

  private give(grant: Grant): OAuthTokens {
    const [accessToken, refreshToken] = [`mcp-access-${randomUUID()}`, `mcp-refresh-${randomUUID()}`];
    this.issued.push(accessToken, refreshToken);
    this.access.set(accessToken, grant);
    this.refresh.set(refreshToken, grant);
    return { access_token: accessToken, refresh_token: refreshToken, token_type: 'bearer', expires_in: 3_600 };
  }
}

export async function startMcpAuthServer(): Promise<McpAuthServer> {
  const app = createMcpExpressApp();
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resource = new URL(`${origin}/mcp`);
  const provider = new TestProvider();
  const calls: string[] = [];
  const unlimited = { rateLimit: false } as const;
  app.use(
    mcpAuthRouter({
      provider,
      issuerUrl: new URL(origin),
      resourceServerUrl: resource,
      scopesSupported: ['tools'],
      authorizationOptions: unlimited,
      clientRegistrationOptions: unlimited,
      tokenOptions: unlimited,
      revocationOptions: unlimited,
    }),
  );
  const guard = requireBearerAuth({
    verifier: provider,
    requiredScopes: ['tools'],
    resourceMetadataUrl: `${origin}/.well-known/oauth-protected-resource/mcp`,
  });
  app.post('/mcp', guard, (request, response) => {
    // Express types the body as `any`.
    const body = request.body as unknown;
    if (request.auth?.resource?.href !== resource.href) {
      response.status(401).end();
      return;
    }
    const mcp = createTools((call) => calls.push(call));
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on('close', () => void mcp.close());
    mcp
      .connect(transport)
      .then(() => transport.handleRequest(request, response, body))
      .catch(() => response.destroy());
  });
  app.all('/mcp', (_request, response) => void response.status(405).end());
  return {
    url: resource.href,
    origin,
    get clients() {
      return [...provider.clients.values()];
    },
    resources: provider.resources,
    issued: provider.issued,
    addClient({ id, secret, redirectUri }) {
      const client = { client_id: id, client_secret: secret, redirect_uris: [redirectUri] };
      provider.clients.set(id, { ...client, token_endpoint_auth_method: 'client_secret_post' });
    },
    get refreshes() {
      return provider.refreshes;
    },
    calls,
    expireTokens: () => provider.access.clear(),
    revoke() {
      provider.access.clear();
      provider.refresh.clear();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The results of the tools contain the caller's token; one tool returns it in every encoding, and fails. */
function createTools(record: (text: string) => void): McpServer {
  const server = new McpServer({ name: 'guarded', version: '1.0.0' });
  server.registerTool('note', { description: 'Notes', inputSchema: { text: z.string() } }, ({ text }, extra) => {
    record(text);
    return { content: [{ type: 'text', text: `noted: ${text} by ${extra.authInfo?.token ?? 'nobody'}` }] };
  });
  server.registerTool('fail', { description: 'Fails' }, (extra) => ({
    content: [{ type: 'text', text: JSON.stringify(echoesOf(extra.authInfo?.token ?? '')) }],
    isError: true,
  }));
  return server;
}
