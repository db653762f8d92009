// A real OpenID Connect provider (the package oidc-provider) on this machine, and a browser that goes through it.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import Provider from 'oidc-provider';

export interface IssuerClaims {
  name?: string;
  email?: string;
  email_verified?: boolean;
}

export interface Issuer {
  url: string;
  clientId: string;
  clientSecret: string;
  /** The people who can sign in, by their subject. */
  people: Map<string, IssuerClaims>;
  /** The subject of the person at the next visit; undefined: the person declines. */
  visitor: string | undefined;
  /** Changes the claims of the ID tokens before they are signed, as a foreign issuer or a thief of tokens would. */
  forge: ((claims: JWTPayload) => JWTPayload) | undefined;
  /** Signs forged ID tokens with a key that the issuer does not publish. */
  usesForeignKey: boolean;
  /** Replaces the other fields of the answer that contains the ID token. */
  beside: Record<string, unknown>;
  close: () => Promise<void>;
}

/** Starts the provider. `redirectUri` is the address at which the service accepts answers. */
export async function startIssuer(redirectUri: string): Promise<Issuer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const [own, foreign] = [await generateKeyPair('RS256', { extractable: true }), await generateKeyPair('RS256')];
  const jwk = { ...(await exportJWK(own.privateKey)), kid: 'issuer-key', alg: 'RS256', use: 'sig' };
  const issuer: Issuer = {
    url: `http://127.0.0.1:${port}`,
    clientId: 'workflow service',
    clientSecret: `s/${randomBytes(16).toString('base64')}`,
    people: new Map(),
    visitor: undefined,
    forge: undefined,
    usesForeignKey: false,
    beside: {},
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const provider = createProvider(issuer, redirectUri, jwk);
  provider.use(async (ctx, next) => {
    await next();
    const body = ctx.body as { id_token?: string } | undefined;
    if (typeof body?.id_token !== 'string') return;
    ctx.body = { ...body, ...issuer.beside };
    if (issuer.forge === undefined) return;
    const claims = issuer.forge(decodeJwt(body.id_token));
    const header = { ...decodeProtectedHeader(body.id_token), alg: 'RS256' };
    const key = issuer.usesForeignKey ? foreign.privateKey : own.privateKey;
    ctx.body = { ...body, id_token: await new SignJWT(claims).setProtectedHeader(header).sign(key) };
  });
  const answer = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/interaction/') === true) void decide(provider, issuer, request, response);
    else void answer(request, response);
  });
  return issuer;
}

function createProvider(issuer: Issuer, redirectUri: string, jwk: object): Provider {
  const provider: Provider = new Provider(issuer.url, {
    clients: [
      { client_id: issuer.clientId, client_secret: issuer.clientSecret, redirect_uris: [redirectUri] },
      { client_id: 'another service', client_secret: 'another secret', redirect_uris: [redirectUri] },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    jwks: { keys: [jwk] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, sub) => {
      const claims = issuer.people.get(sub);
      return claims && { accountId: sub, claims: () => ({ sub, ...claims }) };
    },
    // Grants every scope without asking for consent.
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  return provider;
}

async function decide(
  provider: Provider,
  { visitor }: Issuer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const result =
    visitor === undefined
      ? { error: 'access_denied', error_description: 'a canary that must not be logged' }
      : { login: { accountId: visitor } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

/**
 * Follows redirects from `url` as a browser does, with the issuer's cookies, until one leads to another origin. Returns
 * that address.
 */
export async function followIssuer(url: string): Promise<URL> {
  const { origin } = new URL(url);
  const jar = new Map<string, string>();
  for (let next = new URL(url), hops = 0; hops < 10; hops += 1) {
    if (next.origin !== origin) return next;
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      jar.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`the issuer answers ${response.status}: ${await response.text()}`);
    next = new URL(location, next);
  }
  throw new Error('the issuer sends the browser in circles');
}
