// The variables of the database (docs/operate/operations.md, "Environment").
import { z } from 'zod';
import { ConfigError } from './variable-types.js';

export const databaseVariables = {
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a URL' }).optional(),
  DATABASE_PASSWORD: z.string().optional(),
  DATABASE_RUNTIME_ROLE: z.string().max(63).optional(),
};

export interface DatabaseSettings {
  /** Includes the password. */
  databaseUrl: string | undefined;
  /** The role of API and worker. `npm run migrate` grants its rights. */
  databaseRuntimeRole: string | undefined;
}

/** Throws `ConfigError`. */
export function toDatabaseSettings(values: z.infer<z.ZodObject<typeof databaseVariables>>): DatabaseSettings {
  return {
    databaseUrl: withPassword(values.DATABASE_URL, values.DATABASE_PASSWORD),
    databaseRuntimeRole: values.DATABASE_RUNTIME_ROLE,
  };
}

function withPassword(url: string | undefined, password: string | undefined): string | undefined {
  if (url === undefined || password === undefined) return url;
  const full = new URL(url);
  if (full.password !== '') {
    throw new ConfigError('DATABASE_PASSWORD: must not be set, because DATABASE_URL has a password.');
  }
  // The setter does not encode `%`.
  full.password = encodeURIComponent(password);
  return full.href;
}
