import { ADDRESSES } from './addresses.js';

/** The token of a sign-in link (`/#token=...`), which leaves the address bar and the history at once. */
export function takeLinkToken(): string | undefined {
  return location.pathname === ADDRESSES.password ? undefined : takeToken();
}

/** The token of the password link that was opened. It outlives the page's components, which a sign-in makes anew. */
let passwordToken: string | undefined;

/** The token of the last password link (`/password#token=...`) that was opened; it leaves the address bar, too. */
export function readPasswordToken(): string | undefined {
  passwordToken = takeToken() ?? passwordToken;
  return passwordToken;
}

function takeToken(): string | undefined {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  return token;
}
