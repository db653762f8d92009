// Adds a credential to a request, and lists the texts that must be masked in the answer.
import type { ConnectionKind } from '../db/core/tables.js';
import { isWithin } from '../graph/origins.js';
import type { SecretsOf, SettingsOf } from './kinds.js';

interface Bare {
  url: URL;
  headers: Record<string, string>;
}

export interface Credential {
  /**
   * Returns the request with the credential, which replaces a header or parameter with the same name. Throws
   * `ConnectionOriginError` for an address to which the credential must not be sent.
   */
  authorize: (request: Bare) => Bare;
  /** The texts that must be masked wherever they occur. */
  secretTexts: string[];
}

/**
 * Thrown for a request to an address outside the connection's origins or path prefix. Nothing was sent to that address,
 * but a server that redirects to it has received a request.
 */
export class ConnectionOriginError extends Error {
  override name = 'ConnectionOriginError';
  readonly code = 'connection_origin';

  constructor(place: string) {
    super(`The connection may not be used at ${place}.`);
  }
}

/** An opened connection. `accessToken` is set for kinds whose tokens come from a provider. */
export interface OpenConnection {
  kind: ConnectionKind;
  origins: readonly string[];
  settings: Record<string, unknown>;
  secrets: Record<string, unknown>;
  accessToken?: string;
}

export function toCredential(connection: OpenConnection): Credential {
  const { add, texts } = partsOf(connection);
  return {
    secretTexts: texts,
    authorize(request) {
      if (!isWithin(connection.origins, request.url)) throw new ConnectionOriginError(request.url.origin);
      return add(request);
    },
  };
}

interface Parts {
  add: (request: Bare) => Bare;
  texts: string[];
}

function partsOf({ kind, settings, secrets, accessToken = '' }: OpenConnection): Parts {
  if (kind === 'header') return withHeaders(pairsOf(settings as SettingsOf<'header'>, secrets as SecretsOf<'header'>));
  if (kind === 'query') return withQuery(pairsOf(settings as SettingsOf<'query'>, secrets as SecretsOf<'query'>));
  if (kind === 'path') return withPath((settings as SettingsOf<'path'>).prefix, (secrets as SecretsOf<'path'>).value);
  if (kind === 'basic') return withBasic(settings as SettingsOf<'basic'>, secrets as SecretsOf<'basic'>);
  return withBearer(kind === 'bearer' ? (secrets as SecretsOf<'bearer'>).token : accessToken);
}

type Pair = [name: string, value: string];

/** Headers and query parameters are configured in the same way. */
function pairsOf(settings: SettingsOf<'header'>, secrets: SecretsOf<'header'>): Pair[] {
  const names = 'names' in settings ? settings.names : [settings.name];
  const values = 'values' in secrets ? secrets.values : [secrets.value];
  return names.map((name, index): Pair => [name, values[index] ?? '']);
}

function withBearer(token: string): Parts {
  const { add } = withHeaders([['authorization', `Bearer ${token}`]]);
  return { add, texts: [token] };
}

function withBasic({ username }: SettingsOf<'basic'>, { password }: SecretsOf<'basic'>): Parts {
  const encoded = Buffer.from(`${username}:${password}`).toString('base64');
  return { add: withHeaders([['authorization', `Basic ${encoded}`]]).add, texts: [password, encoded] };
}

function withHeaders(pairs: Pair[]): Parts {
  const own = new Set(pairs.map(([name]) => name.toLowerCase()));
  return {
    // A value is also masked without its scheme, which a server may leave out.
    texts: pairs.flatMap(([, value]) => [value, value.replace(/^[\w-]+\s+/, '')]),
    add: ({ url, headers }) => {
      const others = Object.entries(headers).filter(([name]) => !own.has(name.toLowerCase()));
      return { url, headers: Object.fromEntries([...others, ...pairs]) };
    },
  };
}

function withQuery(pairs: Pair[]): Parts {
  return {
    texts: pairs.flatMap(([, value]) => [value, encodeURIComponent(value)]),
    add: ({ url, headers }) => {
      const target = new URL(url);
      for (const [name, value] of pairs) target.searchParams.set(name, value);
      return { url: target, headers };
    },
  };
}

/**
 * Inserts the secret into the path directly after the prefix. A path that already has the secret there, for example
 * after a redirect, stays.
 */
function withPath(prefix: string, value: string): Parts {
  return {
    texts: [value],
    add: ({ url, headers }) => {
      const { pathname } = url;
      if (!pathname.startsWith(prefix)) throw new ConnectionOriginError(`${url.origin} outside of the path ${prefix}`);
      const rest = pathname.slice(prefix.length);
      if (rest === value || rest.startsWith(`${value}/`)) return { url, headers };
      const target = new URL(url);
      target.pathname = `${prefix}${value}${rest}`;
      return { url: target, headers };
    },
  };
}
