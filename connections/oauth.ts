// Gets the tokens of connections of the kinds `oauth2` and `oauth2_client_credentials` with the library openid-client.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  clientCredentialsGrant,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  None,
  randomPKCECodeVerifier,
  refreshTokenGrant,
  type ClientAuth,
} from 'openid-client';
import type { SecretsOf, SettingsOf } from './kinds.js';
import type { ProviderFetch } from './provider-fetch.js';
import { toStoredTokens, tokenErrorIn, toTokenError, type IssuedTokens, type StoredTokens } from './tokens.js';

interface Provider<Kind extends 'oauth2' | 'oauth2_client_credentials'> {
  settings: SettingsOf<Kind>;
  secrets: SecretsOf<Kind>;
}

type AnyProvider = Provider<'oauth2'> | Provider<'oauth2_client_credentials'>;

/** The provider's page for the sign-in, and the PKCE verifier with which the code from that page is exchanged. */
export interface StartedSignIn {
  url: string;
  verifier: string;
}

export async function startOauthSignIn(
  { settings }: Pick<Provider<'oauth2'>, 'settings'>,
  { redirectUri, state }: { redirectUri: string; state: string },
): Promise<StartedSignIn> {
  const verifier = randomPKCECodeVerifier();
  const config = new Configuration(serverOf(settings), settings.client_id);
  allowInsecureRequests(config);
  const url = buildAuthorizationUrl(config, {
    // `authorize_params` come first, so that they cannot override the parameters that protect the sign-in.
    ...settings.authorize_params,
    redirect_uri: redirectUri,
    state,
    response_type: 'code',
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(settings.scopes.length > 0 && { scope: settings.scopes.join(' ') }),
  });
  return { url: url.href, verifier };
}

/** Exchanges the code from the provider's sign-in page for tokens. Throws `TokenError`. */
export function exchangeAuthorizationCode(
  provider: Provider<'oauth2'>,
  network: ProviderFetch,
  { code, verifier, redirectUri }: { code: string; verifier: string; redirectUri: string },
): Promise<StoredTokens> {
  const answer = new URL(redirectUri);
  answer.searchParams.set('code', code);
  return requestTokens(() =>
    // The state needs no check, because the caller has found the connection by it.
    authorizationCodeGrant(toConfiguration(provider, network), answer, { pkceCodeVerifier: verifier }),
  );
}

/** Throws `TokenError`. */
export function refreshOauth(
  provider: Provider<'oauth2'>,
  network: ProviderFetch,
  before: StoredTokens,
): Promise<StoredTokens> {
  return requestTokens(() => refreshTokenGrant(toConfiguration(provider, network), before.refreshToken ?? ''), before);
}

/** Throws `TokenError`. */
export function requestClientToken(
  provider: Provider<'oauth2_client_credentials'>,
  network: ProviderFetch,
): Promise<StoredTokens> {
  const { scopes, audience } = provider.settings;
  return requestTokens(() =>
    clientCredentialsGrant(toConfiguration(provider, network), {
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      ...(audience !== undefined && { audience }),
    }),
  );
}

async function requestTokens(ask: () => Promise<IssuedTokens>, before?: StoredTokens): Promise<StoredTokens> {
  try {
    return toStoredTokens(await ask(), before);
  } catch (error) {
    throw tokenErrorIn(error) ?? toTokenError(undefined);
  }
}

function toConfiguration({ settings, secrets }: AnyProvider, { fetch }: ProviderFetch): Configuration {
  const config = new Configuration(serverOf(settings), settings.client_id, undefined, authOf(settings, secrets));
  // Addresses were validated when they were stored, so TLS is missing only if private networks are allowed.
  allowInsecureRequests(config);
  config[customFetch] = (url, options) => fetch(url, options);
  return config;
}

function serverOf(settings: AnyProvider['settings']) {
  const { token_url: token } = settings;
  const authorize = 'authorize_url' in settings ? { authorization_endpoint: settings.authorize_url } : {};
  return { issuer: new URL(token).origin, token_endpoint: token, ...authorize };
}

function authOf(
  { client_auth: way = 'post' }: AnyProvider['settings'],
  { client_secret: secret }: AnyProvider['secrets'],
): ClientAuth {
  if (secret === undefined) return None();
  return way === 'basic' ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}
