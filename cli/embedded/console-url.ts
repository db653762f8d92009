/**
 * Puts the token into the fragment, which browsers send to no server, so that it reaches no log. `path` is the page to
 * show after the sign-in.
 */
export function toConsoleUrl(publicUrl: string, token: string, path = '/'): string {
  return `${publicUrl}${path}#token=${token}`;
}
