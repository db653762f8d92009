// The session of the person at the page. The access token lives in memory only. The refresh cookie, which scripts
// cannot read, yields the next access token. See docs/use/sign-in.md.
import {
  createClient,
  ServiceError,
  unwrap,
  type paths,
  type TokenSource,
} from '../../clients/typescript/src/index.js';
import { createStore, useStored } from '../ui/store.js';
import { ADDRESSES } from './addresses.js';
import { browserEntries } from './browser-entries.js';
import { CALL_RETRIES } from './calls.js';
import { forgetDrafts } from './drafts.js';
import { isGuarded } from './leave-guard.js';

type SignedIn = paths['/api/v1/auth/login/']['post']['responses'][200]['content']['application/json'];
export type User = SignedIn['user'];

/**
 * `starting`: the page is checking for a session. `failed`: the check failed. `out`: no session. `problem` is why the
 * opened sign-in link failed. `hasEnded` is true if the service ended the session that this page had, false after a
 * sign-out and for visitors. `heldFor` is the person whose unsaved changes are still on the page.
 */
type SessionState =
  | { phase: 'starting' }
  | { phase: 'failed'; error: unknown }
  | { phase: 'out'; hasEnded: boolean; problem?: unknown; heldFor?: User | undefined }
  | { phase: 'in'; user: User };

interface Token {
  text: string;
  endsAtMs: number;
}

/** Tokens that expire within this time are renewed before use. */
const EARLY_MS = 60_000;
const LOCK = 'session';
/** Tabs of one browser notify each other about sign-in and sign-out, but never share a token. */
const channel = new BroadcastChannel('session');

const openCalls = createClient({ baseUrl: location.origin, ...CALL_RETRIES });
const store = createStore<SessionState>({ phase: 'starting' });
let token: Token | undefined;
let renewal: Promise<string | undefined> | undefined;

export const session = {
  getState: store.getState,
  subscribe: store.subscribe,
  start,
  signIn,
  signInByReset,
  signOut,
};

/**
 * Tokens for `createClient` and uploads. `current` and `renew` reject if a refresh fails although the session has not
 * ended, for example because the service cannot be reached. The session stays open then.
 */
export const tokens: TokenSource = {
  async current() {
    if (store.getState().phase !== 'in' || token === undefined) return undefined;
    return token.endsAtMs - Date.now() > EARLY_MS ? token.text : renew();
  },
  async renew(refused) {
    if (store.getState().phase !== 'in') return undefined;
    // Another call may have renewed the token in the meantime.
    return token !== undefined && token.text !== refused ? token.text : renew();
  },
};

/**
 * Starts the session from the opened link, else from the cookie. Called when the page loads, and again after `failed`.
 */
async function start(): Promise<void> {
  store.setState({ phase: 'starting' });
  let problem: unknown;
  try {
    openedLink ??= takeLinkToken();
    const link = openedLink;
    if (link !== undefined) {
      try {
        const signedIn = await unwrap(openCalls.POST('/api/v1/auth/link/', { body: { token: link } }));
        openedLink = undefined;
        return enter(signedIn);
      } catch (error) {
        if (error instanceof ServiceError && error.status < 500 && error.status !== 429) openedLink = undefined;
        // The link may have been used in this browser before, whose cookie may still hold a session.
        problem = error;
      }
    }
    if ((await renew()) !== undefined) return;
    // The service has not judged the link, so the page offers `Try again` instead of another way to sign in.
    if (openedLink !== undefined) store.setState({ phase: 'failed', error: problem });
    else store.setState({ phase: 'out', hasEnded: false, problem });
  } catch (error) {
    store.setState({ phase: 'failed', error });
  }
}

/** Rejects with a ServiceError: 401 for a wrong address or password, 429 after too many attempts. */
async function signIn(email: string, password: string): Promise<void> {
  enter(await unwrap(openCalls.POST('/api/v1/auth/login/', { body: { email, password } })));
}

/**
 * Sets the password with the token of a password link, and signs in. Rejects with a ServiceError: 401 for a used,
 * replaced or expired link.
 */
async function signInByReset(link: string, password: string): Promise<void> {
  const body = { token: link, new_password: password };
  enter(await unwrap(openCalls.POST('/api/v1/auth/password/reset/', { body })));
}

/** Signs out here and in all other tabs. Rejects if the call fails; the person then stays signed in. */
async function signOut(): Promise<void> {
  await oneTabAtATime(() => unwrap(openCalls.POST('/api/v1/auth/logout/')));
  leave(false);
  notifyTabs({ type: 'signed-out' });
}

function enter(signedIn: SignedIn): void {
  accept(signedIn);
  notifyTabs({ type: 'signed-in', userId: signedIn.user.id });
}

function accept({ access_token: text, expires_in: seconds, user }: SignedIn): string {
  token = { text, endsAtMs: Date.now() + seconds * 1000 };
  store.setState({ phase: 'in', user });
  return text;
}

function leave(hasEnded: boolean): void {
  const state = store.getState();
  const heldFor = hasEnded && state.phase === 'in' && isGuarded() ? state.user : undefined;
  token = undefined;
  store.setState({ phase: 'out', hasEnded, heldFor });
  // If the service has ended the session, the drafts of unsaved work remain. A sign-out deletes them.
  if (!hasEnded && state.phase === 'in') forgetDrafts(browserEntries(), state.user.id);
}

/** Concurrent calls share one refresh. Resolves to undefined if there is no session. */
function renew(): Promise<string | undefined> {
  renewal ??= oneTabAtATime(refresh).finally(() => (renewal = undefined));
  return renewal;
}

async function refresh(): Promise<string | undefined> {
  try {
    return accept(await unwrap(openCalls.POST('/api/v1/auth/refresh/')));
  } catch (error) {
    // 403: this service issues no sessions, or takes this page for one of another origin (docs/use/sign-in.md).
    if (!(error instanceof ServiceError) || (error.status !== 401 && error.status !== 403)) throw error;
    if (store.getState().phase === 'in') leave(true);
    return undefined;
  }
}

/**
 * A refresh cookie works once, so only one tab refreshes at a time. Outside a secure context the browser has no locks,
 * so two tabs may send the same cookie. The service accepts both if they arrive at almost the same time.
 */
function oneTabAtATime<T>(act: () => Promise<T>): Promise<T> {
  return 'locks' in navigator ? navigator.locks.request(LOCK, act) : act();
}

listenToTabs((message) => {
  const state = store.getState();
  if (message.type === 'signed-out') {
    if (state.phase === 'in') leave(false);
  } else if (state.phase === 'out' || (state.phase === 'in' && state.user.id !== message.userId)) {
    // All tabs share one refresh cookie, so a refresh yields a token of the person who has signed in elsewhere.
    renew().catch(() => undefined);
  }
});

export function useSession(): SessionState {
  return useStored(store, (state) => state);
}

/**
 * Returns the person to whom the page belongs: who is signed in, or whose session the service has ended while unsaved
 * changes were on the page.
 */
export function ownerOf(state: SessionState): User | undefined {
  if (state.phase === 'in') return state.user;
  return state.phase === 'out' ? state.heldFor : undefined;
}

/** Returns undefined unless the person is signed in. */
export function useUser(): User | undefined {
  const state = useSession();
  return state.phase === 'in' ? state.user : undefined;
}

/** Returns the token of a sign-in link (`/#token=...`) and removes it from the address bar and the history. */
function takeLinkToken(): string | undefined {
  return location.pathname === ADDRESSES.password ? undefined : takeToken();
}

/** Token of the opened sign-in link, until the service has taken or refused it: `Try again` needs it. */
let openedLink: string | undefined;

/** Token of the opened password link. It must outlive the page's components, which a sign-in remounts. */
let passwordToken: string | undefined;

/** Returns the token of the last opened password link (`/password#token=...`) and removes it from the address bar. */
export function readPasswordToken(): string | undefined {
  passwordToken = takeToken() ?? passwordToken;
  return passwordToken;
}

function takeToken(): string | undefined {
  const text = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (text !== undefined) history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  return text;
}

/**
 * A sign-in at an identity provider ends at the root. The tab's session storage, which no other site can read, holds
 * the requested address until then.
 */
const RETURN_ADDRESS = 'return-address';

export function storeReturnAddress(path: string): void {
  sessionStorage.setItem(RETURN_ADDRESS, path);
}

/** Returns the stored address and deletes it. */
export function takeReturnAddress(): string | null {
  const path = sessionStorage.getItem(RETURN_ADDRESS);
  sessionStorage.removeItem(RETURN_ADDRESS);
  return path;
}

type Message = { type: 'signed-out' } | { type: 'signed-in'; userId: number };

function notifyTabs(message: Message): void {
  // Reaches this origin only; the method accepts no target origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(message);
}

function listenToTabs(listener: (message: Message) => void): void {
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => listener(data));
}
