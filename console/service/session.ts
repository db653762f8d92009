// The session of the person at the page. The access token is in memory alone. The refresh cookie, which no script can
// read, brings the next one. See docs/use/sign-in.md.
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
 * `starting`: the page asks whether there is a session. `failed`: it could not ask. `out`: there is none; `problem` says
 * why the link that was opened did not help, `hasEnded` that there was one until now, and `heldFor` whose unsaved changes
 * are still on the page.
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

/** A token that ends within this time is renewed before it is used. */
const EARLY_MS = 60_000;
const LOCK = 'session';
/** The tabs of one browser tell each other about the session, but never a token. */
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
 * Tokens for `createClient`. `current` and `renew` reject when the service cannot be asked: the session has not ended
 * then.
 */
export const tokens: TokenSource = {
  async current() {
    if (store.getState().phase !== 'in' || token === undefined) return undefined;
    return token.endsAtMs - Date.now() > EARLY_MS ? token.text : renew();
  },
  async renew(refused) {
    if (store.getState().phase !== 'in') return undefined;
    // Another call has renewed it meanwhile.
    return token !== undefined && token.text !== refused ? token.text : renew();
  },
};

/**
 * Starts the session by the link that was opened, else by the cookie: once when the page is loaded, and again after
 * `failed`.
 */
async function start(): Promise<void> {
  store.setState({ phase: 'starting' });
  let problem: unknown;
  try {
    const link = takeLinkToken();
    if (link !== undefined) {
      try {
        return enter(await unwrap(openCalls.POST('/api/v1/auth/link/', { body: { token: link } })));
      } catch (error) {
        // The link was used before, and the person who used it is still signed in.
        problem = error;
      }
    }
    if ((await renew()) === undefined) store.setState({ phase: 'out', hasEnded: false, problem });
  } catch (error) {
    store.setState({ phase: 'failed', error });
  }
}

/** Rejects with what the service says: 401 for a wrong password, 429 after too many. */
async function signIn(email: string, password: string): Promise<void> {
  enter(await unwrap(openCalls.POST('/api/v1/auth/login/', { body: { email, password } })));
}

/**
 * Signs in by the token of a password link, and sets the password. Rejects with what the service says: 401 for a used
 * link.
 */
async function signInByReset(link: string, password: string): Promise<void> {
  const body = { token: link, new_password: password };
  enter(await unwrap(openCalls.POST('/api/v1/auth/password/reset/', { body })));
}

/** Signs out here and in all other tabs. When the service cannot be told, it rejects and the person stays signed in. */
async function signOut(): Promise<void> {
  await oneTabAtATime(() => unwrap(openCalls.POST('/api/v1/auth/logout/')));
  leave(false);
  tellTabs({ type: 'signed-out' });
}

function enter(signedIn: SignedIn): void {
  accept(signedIn);
  tellTabs({ type: 'signed-in', userId: signedIn.user.id });
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
  // A session that has ended by itself takes no unsaved work along; a person who signs out leaves nothing behind.
  if (!hasEnded && state.phase === 'in') forgetDrafts(browserEntries(), state.user.id);
}

/** All calls that wait share one refresh. It returns undefined when the session has ended. */
function renew(): Promise<string | undefined> {
  renewal ??= oneTabAtATime(refresh).finally(() => (renewal = undefined));
  return renewal;
}

async function refresh(): Promise<string | undefined> {
  try {
    return accept(await unwrap(openCalls.POST('/api/v1/auth/refresh/')));
  } catch (error) {
    // 403: this service gives no sessions (docs/use/sign-in.md).
    if (!(error instanceof ServiceError) || (error.status !== 401 && error.status !== 403)) throw error;
    if (store.getState().phase === 'in') leave(true);
    return undefined;
  }
}

/**
 * A refresh cookie is good once, so one tab refreshes at a time. Outside a secure context the browser has no locks, and
 * the service accepts the same cookie for a moment.
 */
function oneTabAtATime<T>(act: () => Promise<T>): Promise<T> {
  return 'locks' in navigator ? navigator.locks.request(LOCK, act) : act();
}

listenToTabs((message) => {
  const state = store.getState();
  if (message.type === 'signed-out') {
    if (state.phase === 'in') leave(false);
  } else if (state.phase === 'out' || (state.phase === 'in' && state.user.id !== message.userId)) {
    // The tabs share one cookie.
    renew().catch(() => undefined);
  }
});

export function useSession(): SessionState {
  return useStored(store, (state) => state);
}

/** Returns the person whose page this is: signed in now, or until now and with unsaved changes on the page. */
export function ownerOf(state: SessionState): User | undefined {
  if (state.phase === 'in') return state.user;
  return state.phase === 'out' ? state.heldFor : undefined;
}

/** Returns undefined for a visitor. */
export function useUser(): User | undefined {
  const state = useSession();
  return state.phase === 'in' ? state.user : undefined;
}

/** The token of a sign-in link (`/#token=...`), which leaves the address bar and the history at once. */
function takeLinkToken(): string | undefined {
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
  const text = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (text !== undefined) history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  return text;
}

/**
 * An identity provider leads back to the root. Meanwhile the tab keeps the address that was asked for, which nobody else sees.
 */
const RETURN_ADDRESS = 'return-address';

export function keepReturnAddress(path: string): void {
  sessionStorage.setItem(RETURN_ADDRESS, path);
}

/** Returns the kept address once. */
export function takeReturnAddress(): string | null {
  const path = sessionStorage.getItem(RETURN_ADDRESS);
  sessionStorage.removeItem(RETURN_ADDRESS);
  return path;
}

type Message = { type: 'signed-out' } | { type: 'signed-in'; userId: number };

function tellTabs(message: Message): void {
  // A channel reaches its own origin alone, and takes no target.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(message);
}

function listenToTabs(listener: (message: Message) => void): void {
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => listener(data));
}
