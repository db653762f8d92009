/**
 * The token stands in the fragment, which browsers keep to themselves: it reaches no log and no other server. `path` is the
 * page that is shown then.
 */
export function toConsoleUrl(publicUrl: string, token: string, path = '/'): string {
  return `${publicUrl}${path}#token=${token}`;
}
