// The window in which a person signs in at the provider of a connection. The service redirects the window to the
// settings page, which then reports the outcome to the page that opened the window, and closes the window. The two
// pages talk by a BroadcastChannel: the console's pages are isolated from other origins, so the provider's page cuts
// the `opener` link.

/** Marks the window in its session storage, which survives visits to other origins. */
const MARK = 'connection-sign-in';

export interface SignInEnd {
  /** Null if the service did not know the sign-in. */
  projectId: string | null;
  error: string | null;
}

/** Reaches pages of this origin only. */
const channel = new BroadcastChannel(MARK);

/**
 * Opens the window before its address is known, because browsers only open windows on a click. Returns undefined if
 * blocked.
 */
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

/**
 * If this page is a sign-in window, reports the outcome, closes the window and returns true. The page
 * then renders nothing.
 */
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
