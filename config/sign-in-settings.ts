// The variables of signing in: whose forwarding headers count, OpenID Connect, and what foreign tokens must say.
// docs/operate/sign-in.md.
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

/** The provider of OpenID Connect that people may sign in with. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The text on the button. */
  name: string;
  /** True if somebody whom no user matches becomes a new user, without API access. */
  createUsers: boolean;
}

/** Rules for session tokens of other issuers; undefined: any value, which JWT_JWKS_URL does not allow. */
export interface ForeignTokenRules {
  issuer: string | undefined;
  audience: string | undefined;
  /** The claim that holds the user's e-mail address; undefined: `user_id`, else `sub`, holds the user's id. */
  userClaim: string | undefined;
}

export interface SignInSettings {
  /** Addresses and networks (`10.0.0.0/8`) whose forwarding headers count. */
  trustedProxies: string[];
  oidc: OidcSettings | undefined;
  foreignTokens: ForeignTokenRules;
}

type Values = z.infer<z.ZodObject<typeof signInVariables>>;

/** `jwksUrl`: JWT_JWKS_URL, where it is set. Throws ConfigError. */
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

/** An issuer publishes one set of keys for all of its services: without both, a token for another service would do here. */
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
  const given = TOGETHER.find((variable) => values[variable] !== undefined);
  if (given === undefined) return undefined;
  const missing = TOGETHER.find((variable) => values[variable] === undefined);
  throw new ConfigError(`${missing}: must be set together with ${given}.`);
}

/** Anybody on the way could be the issuer if there were no TLS. Requests inside this machine have no way. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash, username } = new URL(text);
  if (search !== '' || hash !== '' || username !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** `hostname` as URL writes it. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
