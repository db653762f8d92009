// The window in which a person signs in at the provider of a connection. The service leads it back to the settings page,
// which is then an end of it and no page: it tells the page that has opened it, and closes. The two have lost sight of each
// other at the provider's page, because the console's pages are isolated from those of other origins.

/** Kept in the window's own storage, which lasts while it is at other origins. */
const MARK = 'connection-sign-in';

/** How a sign-in has ended. */
export interface SignInEnd {
  /** It is null if the service did not know the sign-in. */
  projectId: string | null;
  /** The reason of a failure. */
  error: string | null;
}

/** Reaches the pages of this origin alone. */
const channel = new BroadcastChannel(MARK);

/** Opens the window before its address is known, because browsers only do so on a click. Undefined: it was blocked. */
export function openSignInWindow(): Window | undefined {
  const opened = window.open('', '_blank', 'popup,width=560,height=720');
  if (opened === null) return undefined;
  try {
    opened.sessionStorage.setItem(MARK, '1');
    opened.document.title = 'Sign in';
    opened.document.body.textContent = 'Opening the page of the provider…';
  } catch {
    opened.close();
    return undefined;
  }
  return opened;
}

/** Ends the window if this is one. Returns whether it is: then the page has nothing to show. */
export function endSignInWindow(): boolean {
  if (sessionStorage.getItem(MARK) === null || window.location.pathname !== '/settings') return false;
  sessionStorage.removeItem(MARK);
  const search = new URLSearchParams(window.location.search);
  const end: SignInEnd = { projectId: search.get('project'), error: search.get('error') };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A channel reaches its own origin alone.
  channel.postMessage(end);
  window.close();
  return true;
}

/** Returns the function that ends the subscription. */
export function listenToSignIns(listener: (end: SignInEnd) => void): () => void {
  const listen = ({ data }: MessageEvent<SignInEnd>): void => listener(data);
  channel.addEventListener('message', listen);
  return () => channel.removeEventListener('message', listen);
}
