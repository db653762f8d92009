/** The token of a sign-in link (`/#token=...`), which leaves the address bar and the history at once. */
export function takeLinkToken(): string | undefined {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  return token;
}
