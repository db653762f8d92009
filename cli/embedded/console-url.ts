/** The token stands in the fragment, which browsers keep to themselves: it reaches no log and no other server. */
export function toConsoleUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/#token=${token}`;
}
