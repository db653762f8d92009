// A person goes to the address that they asked for after signing in, and never to another origin.

const HOME = '/';

/**
 * Returns the path, query and fragment of an address that stands in a link, which anybody may have written. It returns
 * the root for everything that is not a path of this origin (another scheme or host in whatever disguise), and for the
 * sign-in page.
 */
export function toOwnPath(given: string | null | undefined, origin: string): string {
  if (!given?.startsWith('/') || !URL.canParse(given, origin)) return HOME;
  const url = new URL(given, origin);
  const path = `${url.pathname}${url.search}${url.hash}`;
  // `/.//host` has this origin, and a path that names another host.
  if (url.origin !== origin || path.startsWith('//')) return HOME;
  return url.pathname.replace(/\/+$/, '') === '/sign-in' ? HOME : path;
}

/** The address of the sign-in page that leads back to `path`. */
export function toSignInPath(path: string): string {
  return path === HOME ? '/sign-in' : `/sign-in?${new URLSearchParams({ next: path }).toString()}`;
}
