// The parts of a connection of each kind: settings, which people can read, and secrets, which nobody can read again
// (docs/use/connections.md, "Kinds").
import { z } from 'zod';
import type { ConnectionKind } from '../db/core/tables.js';
import { isConnectionHeader, isHeaderName, isHeaderValue } from '../outgoing/header-text.js';

/** The maximum number of headers or parameters of a credential. */
const MOST_NAMES = 5;
const MOST_CHARACTERS = 8_192;
const MOST_SCOPES = 100;
const MOST_PARAMETERS = 20;

const secret = z.string().min(1).max(MOST_CHARACTERS);
/** A text that a header can carry, trimmed because a pasted one often ends in a line break. */
const headerSecret = z
  .string()
  .trim()
  .min(1)
  .max(MOST_CHARACTERS)
  .refine(isHeaderValue, 'Enter characters that a header can carry.');
const headerName = z
  .string()
  .min(1)
  .max(100)
  .refine((name) => isHeaderName(name) && !isConnectionHeader(name), 'Enter the name of a header.');
const parameterName = z.string().min(1).max(200);
/** A text that needs no encoding in the path of an address. */
const pathSecret = secret.regex(/^[\w.~:@!$&'()*+,;=-]+$/, 'Enter characters that the path of an address can carry.');
const pathPrefix = z
  .string()
  .max(200)
  .regex(/^\/[^?#\s]*$/, 'Enter the beginning of a path, such as /bot.');
const address = z.string().min(1).max(2_048);
const clientId = z.string().trim().min(1).max(500);
const scopes = z
  .array(z.string().trim().min(1).max(500).regex(/^\S+$/, 'Enter each scope by itself.'))
  .max(MOST_SCOPES);

/** Returns the schemas of one name with its value, or of a list of names with their values. */
function named(name: z.ZodType<string>, value: z.ZodType<string>) {
  const names = z.array(name).min(1).max(MOST_NAMES).refine(areDifferent, 'Enter each name once.');
  return {
    settings: z.union([z.strictObject({ name }), z.strictObject({ names })]),
    secrets: z.union([z.strictObject({ value }), z.strictObject({ values: z.array(value).min(1).max(MOST_NAMES) })]),
  };
}

function areDifferent(names: readonly string[]): boolean {
  return new Set(names.map((name) => name.toLowerCase())).size === names.length;
}

const nothing = z.strictObject({});

/**
 * The settings and secrets of each kind. Callers validate the addresses among the settings, because the rules for
 * addresses depend on the environment (`addressRules`).
 */
export const connectionKinds = {
  header: named(headerName, headerSecret),
  query: named(parameterName, secret),
  path: { settings: z.strictObject({ prefix: pathPrefix }), secrets: z.strictObject({ value: pathSecret }) },
  basic: {
    settings: z.strictObject({
      username: z
        .string()
        .max(1_000)
        .regex(/^[^:\p{Cc}]*$/u, 'Enter a user name without a colon.'),
    }),
    secrets: z.strictObject({ password: secret }),
  },
  bearer: { settings: nothing, secrets: z.strictObject({ token: headerSecret }) },
  oauth2_client_credentials: {
    settings: z.strictObject({
      token_url: address,
      client_id: clientId,
      scopes: scopes.default([]),
      audience: z.string().trim().min(1).max(2_048).optional(),
      client_auth: z.enum(['basic', 'post']).optional(),
    }),
    secrets: z.strictObject({ client_secret: secret }),
  },
  oauth2: {
    settings: z.strictObject({
      authorize_url: address,
      token_url: address,
      client_id: clientId,
      scopes: scopes.default([]),
      authorize_params: z
        .record(z.string().min(1).max(100), z.string().max(1_000))
        .refine(
          (params) => Object.keys(params).length <= MOST_PARAMETERS,
          `Enter at most ${MOST_PARAMETERS} parameters.`,
        )
        .optional(),
      client_auth: z.enum(['basic', 'post']).optional(),
    }),
    secrets: z.strictObject({ client_secret: secret.optional() }),
  },
  mcp_oauth: {
    settings: z.strictObject({
      server_url: address,
      client_id: clientId.optional(),
      scopes: scopes.optional(),
    }),
    secrets: z.strictObject({ client_secret: secret.optional() }),
  },
} as const satisfies Record<ConnectionKind, { settings: z.ZodType; secrets: z.ZodType }>;

export const CONNECTION_KINDS = Object.keys(connectionKinds) as [ConnectionKind, ...ConnectionKind[]];

export type SettingsOf<Kind extends ConnectionKind> = z.infer<(typeof connectionKinds)[Kind]['settings']>;
export type SecretsOf<Kind extends ConnectionKind> = z.infer<(typeof connectionKinds)[Kind]['secrets']>;

/** Returns true for the kinds for which a person signs in at a provider. */
export function needsSignIn(kind: ConnectionKind): kind is 'oauth2' | 'mcp_oauth' {
  return kind === 'oauth2' || kind === 'mcp_oauth';
}

/** Returns true for the kinds whose tokens come from a provider. */
export function hasTokens(kind: ConnectionKind): kind is 'oauth2' | 'mcp_oauth' | 'oauth2_client_credentials' {
  return needsSignIn(kind) || kind === 'oauth2_client_credentials';
}

/** The settings that hold an address of the provider or of the MCP server. */
export const ADDRESS_SETTINGS = ['token_url', 'authorize_url', 'server_url'] as const;
