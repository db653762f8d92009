// The addresses that a credential may be sent to (docs/use/connections.md, "Where a credential may be sent").

/** `https://*.host` stands for one label or more before the host, and not for the host itself. */
const WILDCARD = '*.';
/** Stands for the labels while an origin is parsed. */
const ANY_LABEL = 'any-label';

/**
 * Returns the origin in its one spelling, such as `https://api.example.com` or `https://*.example.com:8443`; undefined for a
 * text that is none. `allowsHttp`: whether private networks may be reached, without TLS too.
 */
export function toOrigin(text: string, allowsHttp: boolean): string | undefined {
  const [scheme, rest, ...more] = text.trim().split('://');
  if (scheme === undefined || rest === undefined || more.length > 0) return undefined;
  const isWild = rest.startsWith(WILDCARD);
  const host = isWild ? rest.slice(WILDCARD.length) : rest;
  // A host has nothing behind it but a port: no path, no query, no user name, and no further wildcard.
  if (!/^(?:\[[\da-f:.]+\]|[^/?#@\\*\s:]+)(?::\d{1,5})?\/?$/i.test(host)) return undefined;
  const address = `${scheme}://${isWild ? `${ANY_LABEL}.` : ''}${host}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'https:' && !(allowsHttp && url?.protocol === 'http:')) return undefined;
  // With a dot at its end a host would be another one, and a top-level domain would count as two labels.
  if (url.hostname.endsWith('.')) return undefined;
  if (!isWild) return url.origin;
  // A wildcard below a top-level domain would stand for the hosts of everybody.
  if (!/\.[^.]+\./.test(url.hostname) || /^[\d.]+$|^\[/.test(url.hostname)) return undefined;
  return url.origin.replace(`${ANY_LABEL}.`, WILDCARD);
}

/** Returns whether the URL belongs to one of the origins, in their one spelling (`toOrigin`). */
export function isWithin(origins: readonly string[], url: URL): boolean {
  return origins.some((origin) => {
    const wild = origin.indexOf(WILDCARD);
    if (wild < 0) return origin === url.origin;
    const [scheme, ending] = [origin.slice(0, wild), origin.slice(wild + 1)];
    const found = url.origin;
    return found.startsWith(scheme) && found.endsWith(ending) && found.length > scheme.length + ending.length;
  });
}
