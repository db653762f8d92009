// After signing in, a person returns to the address that they opened, which must belong to this origin.

const HOME = '/';

/**
 * Returns path, query and fragment of an address from a link, which anybody may have written. Returns the root for the
 * sign-in page and for anything that is not a path of this origin, however disguised.
 */
export function toOwnPath(address: string | null | undefined, origin: string): string {
  if (!address?.startsWith('/') || !URL.canParse(address, origin)) return HOME;
  const url = new URL(address, origin);
  const path = `${url.pathname}${url.search}${url.hash}`;
  // `/.//host` has this origin, but its path, `//host`, names another host.
  if (url.origin !== origin || path.startsWith('//')) return HOME;
  return url.pathname.replace(/\/+$/, '') === '/sign-in' ? HOME : path;
}

/** Returns the address of the sign-in page that leads back to `path`. */
export function toSignInPath(path: string): string {
  return path === HOME ? '/sign-in' : `/sign-in?${new URLSearchParams({ next: path }).toString()}`;
}
