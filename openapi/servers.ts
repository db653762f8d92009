// The address to which the requests of an operation go: a server of the document, or the address that replaces it.
import { cutText } from '../graph/cut-text.js';
import { isObject, ownValue, type JsonObject } from '../graph/json.js';
import { entriesAt, listAt, type OpenapiDocument } from './document.js';

export interface ServerRules {
  /** Replaces every server of the document. */
  serverUrl?: string | undefined;
  /** The address of the document, against which a relative server URL is resolved. */
  documentUrl?: string | undefined;
  /** True if private networks may be reached, which need no TLS. `http` is then accepted for every host. */
  allowsHttp: boolean;
  /** Returns true for an address that nodes may not call. */
  isRefused?: ((url: URL) => boolean) | undefined;
}

/** `problem` is a clause without a full stop, which completes an error message. */
export type FoundServer = { server: string } | { problem: string };

/**
 * Returns the first server of an owner (document, path or operation) that can be used, else the problem of its first
 * server. Undefined if the owner names none.
 */
export function serverAt(owner: JsonObject, rules: ServerRules): FoundServer | undefined {
  if (rules.serverUrl !== undefined) return { server: rules.serverUrl };
  const servers = listAt(owner, 'servers').filter(isObject).slice(0, 100);
  if (servers.length === 0) return undefined;
  const found = servers.map((server) => toServer(withVariables(server), rules));
  return found.find((each) => 'server' in each) ?? found[0];
}

/** The server of a whole document. */
export function documentServer({ root, isSwagger }: OpenapiDocument, rules: ServerRules): FoundServer {
  if (rules.serverUrl !== undefined) return { server: rules.serverUrl };
  if (isSwagger) return swaggerServer(root, rules);
  return serverAt(root, rules) ?? toServer('/', rules);
}

function swaggerServer(root: JsonObject, rules: ServerRules): FoundServer {
  const host = ownValue(root, 'host');
  const base = ownValue(root, 'basePath');
  const path = typeof base === 'string' ? `/${base.replace(/^\/+/, '')}` : '/';
  if (typeof host !== 'string' || host === '') return toServer(path, rules);
  const schemes = listAt(root, 'schemes').map((scheme) => String(scheme).toLowerCase());
  const known = rules.documentUrl === undefined ? 'https' : new URL(rules.documentUrl).protocol.slice(0, -1);
  const wanted = ['https', 'http'].find((scheme) => schemes.includes(scheme)) ?? known;
  return toServer(`${wanted}://${host}${path}`, rules);
}

function withVariables(server: JsonObject): string {
  const url = ownValue(server, 'url');
  const text = typeof url === 'string' ? url : '';
  const defaults = new Map(
    entriesAt(server, 'variables').map(([name, variable]) => [name, ownValue(variable, 'default')]),
  );
  return cutText(text, 2_000).replace(/\{([^{}]*)\}/g, (part, name: string) => {
    const value = defaults.get(name);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : part;
  });
}

/** Returns the server without a slash at its end, or the reason why it cannot be used. */
export function toServer(
  text: string,
  { documentUrl, allowsHttp, isRefused }: Omit<ServerRules, 'serverUrl'>,
): FoundServer {
  const shown = `"${cutText(text, 100)}"`;
  if (text.includes('{')) return { problem: `${shown} has a variable without a default` };
  if (!URL.canParse(text) && documentUrl === undefined) {
    return { problem: `${shown} has no scheme and host; send server_url, the address of the service` };
  }
  if (!URL.canParse(text, documentUrl)) return { problem: `${shown} is no address` };
  const url = new URL(text, documentUrl);
  if (url.username !== '' || url.password !== '') return { problem: 'the address holds a user name or password' };
  if (url.protocol !== 'https:' && !(allowsHttp && url.protocol === 'http:')) {
    return { problem: `${shown} is not https; send server_url, the address of the service` };
  }
  if (url.hostname === '' || url.hostname.includes('*')) return { problem: `${shown} names no host` };
  if (isRefused?.(url) === true) return { problem: `${shown} is not allowed, because it is not public` };
  return { server: `${url.origin}${url.pathname.replace(/\/+$/, '')}` };
}
