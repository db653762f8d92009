// OpenID Connect, authorization code with PKCE, by the library openid-client. docs/operate/sign-in.md, "OpenID Connect".
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type ClientAuth,
  type Configuration,
  type CustomFetchOptions,
} from 'openid-client';
import { toStandardTokens } from '../../connections/tokens.js';
import { isLoopback, type OidcSettings } from '../../config/sign-in-settings.js';
import type { Identity } from '../../db/sessions/identities-repository.js';
import { isObject } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { fetchSmall } from '../../outgoing/fetch-small.js';
import { OIDC_PATH, type OidcFlow } from './oidc-flow.js';

export interface OidcClient {
  settings: OidcSettings;
  /** The address at which the browser begins. */
  url: string;
  /** The issuer's page that asks who somebody is. Throws when the issuer cannot be reached. */
  authorizationUrl(flow: OidcFlow): Promise<string>;
  /**
   * Returns whom the issuer's answer names, from the parameters that the browser brought. Throws when the answer is an
   * error, does not belong to the flow, or holds a token that is not of this issuer, for this client, in this flow, and
   * in time.
   */
  identify(flow: OidcFlow, answer: Record<string, string | undefined>): Promise<Identity>;
}

const TIMEOUT_SECONDS = 5;
/** The issuer's keys and addresses change seldom, but they do. */
const DISCOVERY_LIVES_MS = 3_600_000;
const SCOPE = 'openid email profile';

/** `publicUrl`: the base of the address to which the issuer sends the browser back, which it must know. */
export function createOidcClient(settings: OidcSettings, publicUrl: string): OidcClient {
  const redirectUri = `${publicUrl}${OIDC_PATH}callback/`;
  const configuration = keptFor(DISCOVERY_LIVES_MS, () => discover(settings));
  return {
    settings,
    url: `${publicUrl}${OIDC_PATH}`,
    async authorizationUrl({ state, nonce, verifier }) {
      const challenge = await calculatePKCECodeChallenge(verifier);
      return buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state,
        nonce,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }).href;
    },
    async identify({ state, nonce, verifier }, answer) {
      const config = await configuration();
      const url = new URL(redirectUri);
      for (const [name, value] of Object.entries(answer)) if (value !== undefined) url.searchParams.set(name, value);
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
      const tokens = await authorizationCodeGrant(config, url, checks);
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the issuer has sent no ID token');
      const more = await readMore(config, tokens.access_token, claims);
      return toIdentity(claims.iss, claims.sub, { ...claims, ...more });
    },
  };
}

/** Many issuers put the e-mail address into the user info only. */
async function readMore(
  config: Configuration,
  accessToken: string,
  claims: { sub: string; email?: unknown },
): Promise<Record<string, unknown>> {
  const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined;
  if (claims.email !== undefined || !hasUserInfo) return {};
  return fetchUserInfo(config, accessToken, claims.sub);
}

function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<Configuration> {
  const server = new URL(issuer);
  const isPlain = server.protocol === 'http:' && isLoopback(server.hostname);
  return discovery(server, clientId, undefined, authenticateBy(clientSecret), {
    timeout: TIMEOUT_SECONDS,
    [customFetch]: fetchInStandardForm,
    // The ID token's signature is checked, too, although it comes straight from the issuer.
    execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
  });
}

/** The library would refuse a good ID token because of scopes in a list or a lifetime that is none beside it. */
async function fetchInStandardForm(url: string, options: CustomFetchOptions): Promise<Response> {
  const answer = await fetchSmall(url, options as RequestInit);
  if (options.method !== 'POST' || !answer.ok) return answer;
  const text = await answer.text();
  return new Response(toStandardText(text), { headers: { 'content-type': answer.headers.get('content-type') ?? '' } });
}

function toStandardText(text: string): string {
  try {
    const said = parseJson(text);
    const tokens = isObject(said) ? toStandardTokens(said) : undefined;
    return tokens === undefined ? text : writeJson(tokens);
  } catch {
    return text;
  }
}

/** The client authenticates by the standard `client_secret_basic`, unless the issuer takes the other way only. */
function authenticateBy(clientSecret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** Asks again after `livesMs`, and after a failure. Callers at the same time share one question. */
function keptFor<T>(livesMs: number, ask: () => Promise<T>): () => Promise<T> {
  let kept: { value: Promise<T>; until: number } | undefined;
  return () => {
    if (kept !== undefined && performance.now() < kept.until) return kept.value;
    const value = ask();
    const asked = { value, until: performance.now() + livesMs };
    kept = asked;
    value.catch(() => {
      if (kept === asked) kept = undefined;
    });
    return value;
  };
}

const MAX_SUBJECT = 255;
const MAX_NAME = 255;
const MAX_EMAIL = 320;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** `claims`: of the ID token and the user info. What an issuer says is text of somebody else's. */
function toIdentity(issuer: string, subject: string, claims: Record<string, unknown>): Identity {
  if (subject === '' || subject.length > MAX_SUBJECT || hasControls(subject)) throw new Error('the subject is no text');
  const verifiedEmail = claims['email_verified'] === true ? toEmail(claims['email']) : undefined;
  const names = [claims['name'], claims['preferred_username'], verifiedEmail, subject];
  return { issuer, subject, name: names.map(toName).find((name) => name !== '') ?? subject, verifiedEmail };
}

function toEmail(claim: unknown): string | undefined {
  if (typeof claim !== 'string' || claim.length > MAX_EMAIL || hasControls(claim)) return undefined;
  return EMAIL.test(claim) ? claim : undefined;
}

function toName(claim: unknown): string {
  if (typeof claim !== 'string') return '';
  // Well formed, without halves of characters: the database takes no others.
  const text = Array.from(claim.replaceAll(/[\p{Cc}\p{Surrogate}]/gu, ' ').trim());
  return text.slice(0, MAX_NAME).join('');
}

function hasControls(text: string): boolean {
  return /[\p{Cc}\p{Surrogate}]/u.test(text);
}
