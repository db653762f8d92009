// The addresses to which a credential may be sent (docs/use/connections.md, "Where a credential may be sent").
import { WILDCARD } from '../graph/origins.js';

/** Replaces the wildcard while an origin is parsed. */
const ANY_LABEL = 'any-label';

/**
 * Returns the origin in canonical form, such as `https://api.example.com` or `https://*.example.com:8443`; undefined
 * for any other text. `allowsHttp` is true if private networks may be reached, which need no TLS.
 */
export function toOrigin(text: string, allowsHttp: boolean): string | undefined {
  const [scheme, rest, ...more] = text.trim().split('://');
  if (scheme === undefined || rest === undefined || more.length > 0) return undefined;
  const isWild = rest.startsWith(WILDCARD);
  const host = isWild ? rest.slice(WILDCARD.length) : rest;
  // Only a port may follow the host: no path, query, user name or further wildcard.
  if (!/^(?:\[[\da-f:.]+\]|[^/?#@\\*\s:]+)(?::\d{1,5})?\/?$/i.test(host)) return undefined;
  const address = `${scheme}://${isWild ? `${ANY_LABEL}.` : ''}${host}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'https:' && !(allowsHttp && url?.protocol === 'http:')) return undefined;
  // A trailing dot would make the host a different one, and a top-level domain would count as two labels.
  if (url.hostname.endsWith('.')) return undefined;
  if (!isWild) return url.origin;
  // A wildcard below a top-level domain would match the hosts of everybody.
  if (!/\.[^.]+\./.test(url.hostname) || /^[\d.]+$|^\[/.test(url.hostname)) return undefined;
  return url.origin.replace(`${ANY_LABEL}.`, WILDCARD);
}
