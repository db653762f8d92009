// The variables of the database (docs/operate/operations.md, "Environment").
import { z } from 'zod';
import { splitHosts, toHostUrls } from './host-urls.js';
import { ConfigError } from './variable-types.js';

const plainUrl = z.url({ protocol: /^postgres(ql)?$/ });
/**
 * The permitted values of `target_session_attrs` if an address lists several hosts: the values with which libpq finds
 * the server that accepts writes, or null if the option is missing. This service finds that server itself
 * (db/core/hosts.ts).
 */
const WRITERS: (string | null)[] = [null, 'read-write', 'primary'];

export const databaseVariables = {
  DATABASE_URL: z
    .string()
    .refine(isAddress, { abort: true, error: 'must be a URL' })
    .refine(findsWriter, 'must say target_session_attrs=read-write, or leave it out, where it lists several hosts')
    .optional(),
  DATABASE_PASSWORD: z.string().optional(),
  DATABASE_RUNTIME_ROLE: z.string().max(63).optional(),
};

export interface DatabaseSettings {
  /** Includes the password. May list several hosts. */
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

function isAddress(url: string): boolean {
  const { hosts } = splitHosts(url);
  return (hosts.length === 1 || !hosts.includes('')) && toHostUrls(url).every((one) => plainUrl.safeParse(one).success);
}

function findsWriter(url: string): boolean {
  const urls = toHostUrls(url);
  return urls.length === 1 || WRITERS.includes(new URL(urls[0]!).searchParams.get('target_session_attrs'));
}

function withPassword(url: string | undefined, password: string | undefined): string | undefined {
  if (url === undefined || password === undefined) return url;
  const { hosts } = splitHosts(url);
  const full = new URL(toHostUrls(url)[0]!);
  if (full.password !== '') {
    throw new ConfigError('DATABASE_PASSWORD: must not be set, because DATABASE_URL has a password.');
  }
  // The setter does not encode `%`.
  full.password = encodeURIComponent(password);
  const { before, after } = splitHosts(full.href);
  return before + hosts.join(',') + after;
}
