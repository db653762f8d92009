// The origins to which a credential may be sent (docs/use/connections.md, "Where a credential may be sent").
import { serverFor } from './actions/action.js';

/** `https://*.host` matches one or more labels before the host, but not the host itself. */
export const WILDCARD = '*.';

/**
 * Returns true if the URL belongs to one of the origins, which must be in canonical form (`toOrigin` in
 * connections/origins.ts).
 */
export function isWithin(origins: readonly string[], url: URL): boolean {
  return origins.some((origin) => {
    const wild = origin.indexOf(WILDCARD);
    if (wild < 0) return origin === url.origin;
    const [scheme, ending] = [origin.slice(0, wild), origin.slice(wild + 1)];
    const found = url.origin;
    return found.startsWith(scheme) && found.endsWith(ending) && found.length > scheme.length + ending.length;
  });
}

/**
 * Returns true if a credential with these origins may be sent to the server of an action. The host of the server may
 * differ from account to account (`serverFor`).
 */
export function coversServer(origins: readonly string[], server: string): boolean {
  const address = serverFor({ server }, origins);
  return address !== undefined && URL.canParse(address) && isWithin(origins, new URL(address));
}
