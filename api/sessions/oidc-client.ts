// OpenID Connect, authorization code with PKCE, by the library openid-client. docs/operate/sign-in.md, "OpenID
// Connect".
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
  /** The address at which the browser starts the sign-in. */
  url: string;
  /** Returns the address of the issuer's sign-in page. Throws if the issuer's addresses cannot be fetched. */
  authorizationUrl(flow: OidcFlow): Promise<string>;
  /**
   * Returns the identity that the issuer gives for the parameters that the browser brought. Throws if the issuer does
   * not answer, or if its answer is an error, is invalid or does not belong to the flow.
   */
  identify(flow: OidcFlow, answer: Record<string, string | undefined>): Promise<Identity>;
}

/** The time limit of each request to the issuer. */
export const ISSUER_TIMEOUT_SECONDS = 5;
/** The issuer's addresses change seldom, so a copy of them is used for at most an hour. */
const DISCOVERY_LIVES_MS = 3_600_000;
const SCOPE = 'openid email profile';

/** `publicUrl`: the base of the redirect address, which must be registered at the issuer. */
export function createOidcClient(
  settings: OidcSettings,
  publicUrl: string,
  timeoutSeconds = ISSUER_TIMEOUT_SECONDS,
): OidcClient {
  const redirectUri = `${publicUrl}${OIDC_PATH}callback/`;
  const configuration = cachedFor(DISCOVERY_LIVES_MS, () => discover(settings, timeoutSeconds));
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

/** Many issuers send the e-mail address in the user info only. */
async function readMore(
  config: Configuration,
  accessToken: string,
  claims: { sub: string; email?: unknown },
): Promise<Record<string, unknown>> {
  const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined;
  if (claims.email !== undefined || !hasUserInfo) return {};
  return fetchUserInfo(config, accessToken, claims.sub);
}

function discover({ issuer, clientId, clientSecret }: OidcSettings, timeoutSeconds: number): Promise<Configuration> {
  const server = new URL(issuer);
  const isPlain = server.protocol === 'http:' && isLoopback(server.hostname);
  return discovery(server, clientId, undefined, authenticateBy(clientSecret), {
    timeout: timeoutSeconds,
    [customFetch]: fetchInStandardForm,
    // Verifies the ID token's signature, too, although the token comes straight from the issuer.
    execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
  });
}

/**
 * Converts an answer with tokens to the standard's form. The library would refuse an answer with scopes in a list, for
 * example, although its ID token is good.
 */
async function fetchInStandardForm(url: string, options: CustomFetchOptions): Promise<Response> {
  const answer = await fetchSmall(url, options as RequestInit);
  if (options.method !== 'POST' || !answer.ok) return answer;
  const text = await answer.text();
  return new Response(toStandardText(text), { headers: { 'content-type': answer.headers.get('content-type') ?? '' } });
}

function toStandardText(text: string): string {
  try {
    const answer = parseJson(text);
    const tokens = isObject(answer) ? toStandardTokens(answer) : undefined;
    return tokens === undefined ? text : writeJson(tokens);
  } catch {
    return text;
  }
}

/** Authenticates by `client_secret_basic`, or by `client_secret_post` if the issuer lists only other methods. */
function authenticateBy(clientSecret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** Caches the result of `ask` for `livesMs`. A failure is not cached. Concurrent callers share one call. */
function cachedFor<T>(livesMs: number, ask: () => Promise<T>): () => Promise<T> {
  let cached: { value: Promise<T>; until: number } | undefined;
  return () => {
    if (cached !== undefined && performance.now() < cached.until) return cached.value;
    const value = ask();
    const asked = { value, until: performance.now() + livesMs };
    cached = asked;
    value.catch(() => {
      if (cached === asked) cached = undefined;
    });
    return value;
  };
}

const MAX_SUBJECT = 255;
const MAX_NAME = 255;
const MAX_EMAIL = 320;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** `claims`: of the ID token and the user info. The issuer's texts are untrusted. */
function toIdentity(issuer: string, subject: string, claims: Record<string, unknown>): Identity {
  if (subject === '' || subject.length > MAX_SUBJECT || hasControls(subject)) throw new Error('the subject is invalid');
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
  // Replaces control characters (the database refuses the null character) and lone surrogates (UTF-8 has none).
  const text = Array.from(claim.replaceAll(/[\p{Cc}\p{Surrogate}]/gu, ' ').trim());
  return text.slice(0, MAX_NAME).join('');
}

function hasControls(text: string): boolean {
  return /[\p{Cc}\p{Surrogate}]/u.test(text);
}
