// What a provider has given for a connection, and when new tokens are asked for.
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
} from '@modelcontextprotocol/sdk/shared/auth.js';

/** Sealed as JSON in `connections.tokens_enc`. */
export interface StoredTokens {
  accessToken: string;
  refreshToken?: string;
  /** In milliseconds since the epoch; absent where the provider has not said how long the token lives. */
  expiresAtMs?: number;
  lifetimeMs?: number;
  /** How the tokens of an MCP server are refreshed. */
  mcp?: McpGrant;
}

/** The authorization server of an MCP server, and the client that it knows this service as. */
export interface McpGrant {
  metadata: AuthorizationServerMetadata;
  client: OAuthClientInformationMixed;
  /** The resource indicator of the MCP server. */
  resource: string;
}

/** The answer of a provider that has given tokens. */
export interface GivenTokens {
  access_token: string;
  refresh_token?: string | undefined;
  expires_in?: number | undefined;
}

const LONGEST_LIFETIME_SECONDS = 10 * 365 * 24 * 3600;

/**
 * Returns an answer with tokens in the form of the standard, undefined if it holds no access token. Libraries refuse whole
 * answers because of scopes in a list, `null` for what is missing, and lifetimes that are none. With an unknown lifetime the
 * token serves until it is refused.
 */
export function toStandardTokens(said: Record<string, unknown>): Record<string, unknown> | undefined {
  const { expires_in: lifetime, refresh_token: refreshToken, scope, ...others } = said;
  if (!isText(said['access_token'])) return undefined;
  const seconds = toSeconds(lifetime);
  const scopes = Array.isArray(scope) ? scope.filter(isText).join(' ') : scope;
  return {
    ...others,
    ...(seconds !== undefined && { expires_in: seconds }),
    ...(isText(refreshToken) && { refresh_token: refreshToken }),
    ...(isText(scopes) && { scope: scopes }),
  };
}

function toSeconds(lifetime: unknown): number | undefined {
  const isDigits = typeof lifetime === 'string' && /^\d+$/.test(lifetime);
  const seconds = isDigits ? Number(lifetime) : lifetime;
  const isKnown = typeof seconds === 'number' && seconds >= 1 && seconds <= LONGEST_LIFETIME_SECONDS;
  return isKnown ? seconds : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A provider that gives no refresh token with a refresh leaves the one before. */
export function toStoredTokens(given: GivenTokens, before?: Pick<StoredTokens, 'refreshToken' | 'mcp'>): StoredTokens {
  const { access_token: accessToken, refresh_token: refreshToken = before?.refreshToken, expires_in: seconds } = given;
  const lifetimeMs = seconds === undefined ? undefined : seconds * 1_000;
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(lifetimeMs !== undefined && { lifetimeMs, expiresAtMs: Date.now() + lifetimeMs }),
    ...(before?.mcp !== undefined && { mcp: before.mcp }),
  };
}

/** New tokens are asked for in the last fifth of the lifetime, at most ten minutes before the end. */
const EARLY_SHARE = 0.2;
const EARLIEST_MS = 600_000;
/** A token that ends so soon may end on its way. */
const TOO_LATE_MS = 10_000;

/** `fresh`: it serves. `ageing`: it serves, and new tokens are due. `over`: it serves no more. */
export function ageOf({ expiresAtMs, lifetimeMs = 0 }: StoredTokens, nowMs: number): 'fresh' | 'ageing' | 'over' {
  if (expiresAtMs === undefined) return 'fresh';
  const leftMs = expiresAtMs - nowMs;
  if (leftMs <= Math.min(TOO_LATE_MS, lifetimeMs * EARLY_SHARE)) return 'over';
  return leftMs <= Math.min(EARLIEST_MS, lifetimeMs * EARLY_SHARE) ? 'ageing' : 'fresh';
}

/** Why a provider has given no tokens. */
export class TokenError extends Error {
  override name = 'TokenError';
  /**
   * `gone`: what was granted counts no more, and somebody has to sign in again. `refused`: the provider does not accept the
   * client. `unreachable`: it has not answered, or cannot now. `unclear`: it has answered something else than tokens or an
   * error, such as the page of a proxy.
   */
  readonly outcome: 'gone' | 'refused' | 'unreachable' | 'unclear';
  readonly retryAfterMs: number | undefined;

  constructor(outcome: TokenError['outcome'], message: string, retryAfterMs?: number) {
    super(message);
    this.outcome = outcome;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns whether the provider may give tokens when it is asked again. */
export function mayPass({ outcome }: TokenError): boolean {
  return outcome === 'unreachable' || outcome === 'unclear';
}

/** Finds the error of the network in what a library has thrown. */
export function tokenErrorIn(thrown: unknown): TokenError | undefined {
  for (let error: unknown = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    if (error instanceof TokenError) return error;
  }
  return undefined;
}

/** By these words providers say that only a new sign-in helps: the one of the standard, and those of GitHub and Slack. */
const GRANT_IS_GONE: ReadonlySet<unknown> = new Set([
  'invalid_grant',
  'bad_refresh_token',
  'expired_token',
  'invalid_refresh_token',
  'token_revoked',
]);

/** `code`: the OAuth error code that a provider has answered with; undefined for an answer that is none. */
export function toTokenError(code: string | undefined): TokenError {
  if (GRANT_IS_GONE.has(code)) return new TokenError('gone', 'The provider no longer accepts what was granted.');
  // A code is of small letters in every list of them; anything else could be a secret that is repeated.
  const said = code !== undefined && /^[a-z_]{1,60}$/.test(code) ? code : 'an answer that is none of OAuth';
  return new TokenError('refused', `The provider refused: ${said}.`);
}
