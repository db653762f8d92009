// The tokens that a provider has issued for a connection, and when they must be refreshed.
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
} from '@modelcontextprotocol/sdk/shared/auth.js';

/** Stored as sealed JSON in `connections.tokens_enc`. */
export interface StoredTokens {
  accessToken: string;
  refreshToken?: string;
  /** The expiry in milliseconds since the epoch. Absent if the provider has not reported a lifetime. */
  expiresAtMs?: number;
  lifetimeMs?: number;
  /** Needed to refresh the tokens of an MCP server. */
  mcp?: McpGrant;
}

/** The authorization server of an MCP server, and the client as which this service is registered there. */
export interface McpGrant {
  metadata: AuthorizationServerMetadata;
  client: OAuthClientInformationMixed;
  resource: string;
}

export interface IssuedTokens {
  access_token: string;
  refresh_token?: string | undefined;
  expires_in?: number | undefined;
}

const LONGEST_LIFETIME_SECONDS = 10 * 365 * 24 * 3600;

/**
 * Converts an answer with tokens to the standard's form. Returns undefined if it has no access token. Without this,
 * libraries refuse whole answers because of scopes in a list, `null` for missing fields, or invalid lifetimes. A token
 * with an unknown lifetime is used until it is refused.
 */
export function toStandardTokens(answer: Record<string, unknown>): Record<string, unknown> | undefined {
  const { expires_in: lifetime, refresh_token: refreshToken, scope, ...others } = answer;
  if (!isText(answer['access_token'])) return undefined;
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

/** A provider may return no refresh token with a refresh; the previous one then stays valid. */
export function toStoredTokens(
  issued: IssuedTokens,
  before?: Pick<StoredTokens, 'refreshToken' | 'mcp'>,
): StoredTokens {
  const { access_token: accessToken, refresh_token: refreshToken = before?.refreshToken, expires_in: seconds } = issued;
  const lifetimeMs = seconds === undefined ? undefined : seconds * 1_000;
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(lifetimeMs !== undefined && { lifetimeMs, expiresAtMs: Date.now() + lifetimeMs }),
    ...(before?.mcp !== undefined && { mcp: before.mcp }),
  };
}

/** Tokens are refreshed in the last fifth of their lifetime, but at most ten minutes before its end. */
const EARLY_SHARE = 0.2;
const EARLIEST_MS = 600_000;
/** A token with less time left may expire in transit. */
const TOO_LATE_MS = 10_000;

/** `fresh`: usable. `ageing`: usable, but a refresh is due. `over`: not usable. */
export function ageOf({ expiresAtMs, lifetimeMs = 0 }: StoredTokens, nowMs: number): 'fresh' | 'ageing' | 'over' {
  if (expiresAtMs === undefined) return 'fresh';
  const leftMs = expiresAtMs - nowMs;
  if (leftMs <= Math.min(TOO_LATE_MS, lifetimeMs * EARLY_SHARE)) return 'over';
  return leftMs <= Math.min(EARLIEST_MS, lifetimeMs * EARLY_SHARE) ? 'ageing' : 'fresh';
}

export class TokenError extends Error {
  override name = 'TokenError';
  /**
   * `gone`: the grant is no longer valid, and somebody has to sign in again. `refused`: the provider does not accept
   * the client or the request, or cannot be used, for example because it lacks PKCE. `unreachable`: the provider has
   * not answered, or cannot now. `unclear`: the answer is neither tokens nor an error, for example the page of a proxy.
   */
  readonly outcome: 'gone' | 'refused' | 'unreachable' | 'unclear';
  readonly retryAfterMs: number | undefined;

  constructor(outcome: TokenError['outcome'], message: string, retryAfterMs?: number) {
    super(message);
    this.outcome = outcome;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns true if a later request to the provider may succeed. */
export function mayPass({ outcome }: TokenError): boolean {
  return outcome === 'unreachable' || outcome === 'unclear';
}

/** Finds our own error among the causes of an error that a library has thrown. */
export function tokenErrorIn(thrown: unknown): TokenError | undefined {
  for (let error: unknown = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    if (error instanceof TokenError) return error;
  }
  return undefined;
}

/** The error codes after which only a new sign-in helps: that of the standard, and those of GitHub and Slack. */
const GRANT_IS_GONE: ReadonlySet<unknown> = new Set([
  'invalid_grant',
  'bad_refresh_token',
  'expired_token',
  'invalid_refresh_token',
  'token_revoked',
]);

/** The error codes after which a later request may succeed: those of the standards, and those of Slack. */
const MAY_PASS: ReadonlySet<unknown> = new Set([
  'temporarily_unavailable',
  'server_error',
  'slow_down',
  'ratelimited',
  'internal_error',
  'service_unavailable',
]);

/** `code` is the OAuth error code of the provider's answer; undefined if it has none. */
export function toTokenError(code: string | undefined): TokenError {
  if (GRANT_IS_GONE.has(code)) return new TokenError('gone', 'The provider no longer accepts what was granted.');
  if (MAY_PASS.has(code)) return new TokenError('unreachable', `The provider cannot issue tokens now: ${code}.`);
  // All known codes consist of small letters and underscores. Anything else could be a secret that the
  // provider repeats, so it is not quoted.
  const refusal = code !== undefined && /^[a-z_]{1,60}$/.test(code) ? code : 'an answer that is none of OAuth';
  return new TokenError('refused', `The provider refused: ${refusal}.`);
}
