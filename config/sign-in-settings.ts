// The variables of signing in: trusted proxies, OpenID Connect, and the rules for tokens of other
// issuers (docs/operate/sign-in.md).
import { z } from 'zod';
import { ConfigError, flag } from './variable-types.js';
import { networkList } from './network-settings.js';

const ISSUER = 'must be the https URL of an issuer, without query and fragment (http is for this machine alone)';

export const signInVariables = {
  TRUSTED_PROXIES: networkList.default([]),
  OIDC_ISSUER: z.string().refine(isIssuer, ISSUER).optional(),
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  OIDC_NAME: z.string().max(100, 'must have at most 100 characters').optional(),
  OIDC_CREATE_USERS: flag.default(false),
  JWT_ISSUER: z.string().min(1).optional(),
  JWT_AUDIENCE: z.string().min(1).optional(),
  JWT_USER_CLAIM: z.string().min(1).optional(),
};

/** The OpenID Connect provider with which people may sign in. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The text on the button. */
  name: string;
  /** True if a person who matches no user becomes a new user, without API access. */
  createUsers: boolean;
}

/**
 * Rules for session tokens of other issuers. An undefined issuer or audience accepts any value. With JWT_JWKS_URL, both
 * are required.
 */
export interface ForeignTokenRules {
  issuer: string | undefined;
  audience: string | undefined;
  /** The claim with the user's e-mail address. Undefined: `user_id`, else `sub`, holds the user's id. */
  userClaim: string | undefined;
}

export interface SignInSettings {
  /** Addresses and networks (`10.0.0.0/8`) whose forwarding headers are trusted. */
  trustedProxies: string[];
  oidc: OidcSettings | undefined;
  foreignTokens: ForeignTokenRules;
}

type Values = z.infer<z.ZodObject<typeof signInVariables>>;

/** `jwksUrl` is JWT_JWKS_URL. Throws `ConfigError`. */
export function toSignInSettings(values: Values, jwksUrl: string | undefined): SignInSettings {
  if (jwksUrl !== undefined) requireIssuerAndAudience(values);
  return {
    trustedProxies: values.TRUSTED_PROXIES,
    oidc: toOidcSettings(values),
    foreignTokens: {
      issuer: values.JWT_ISSUER,
      audience: values.JWT_AUDIENCE,
      userClaim: values.JWT_USER_CLAIM,
    },
  };
}

/**
 * An issuer publishes one set of keys for all its services. Without both rules, a token for another
 * service would be accepted here.
 */
function requireIssuerAndAudience(values: Values): void {
  const missing = (['JWT_ISSUER', 'JWT_AUDIENCE'] as const).find((variable) => values[variable] === undefined);
  if (missing !== undefined) throw new ConfigError(`${missing}: must be set together with JWT_JWKS_URL.`);
}

const TOGETHER = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const;

function toOidcSettings(values: Values): OidcSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = values;
  if (issuer !== undefined && clientId !== undefined && clientSecret !== undefined) {
    const name = values.OIDC_NAME ?? new URL(issuer).hostname;
    return { issuer, clientId, clientSecret, name, createUsers: values.OIDC_CREATE_USERS };
  }
  const present = TOGETHER.find((variable) => values[variable] !== undefined);
  if (present === undefined) return undefined;
  const missing = TOGETHER.find((variable) => values[variable] === undefined);
  throw new ConfigError(`${missing}: must be set together with ${present}.`);
}

/**
 * Without TLS, anybody on the network path could pose as the issuer. Requests within this machine have no such path.
 */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash, username } = new URL(text);
  if (search !== '' || hash !== '' || username !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** `hostname` must be in the form of `URL.hostname`. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
