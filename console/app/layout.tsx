import { useMutation, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { Button, ButtonLink } from '../ui/button.js';
import { classNames } from '../ui/class-names.js';
import { Menu } from '../ui/menu.js';
import { Alert, LiveRegion, Loading } from '../ui/notices.js';
import { isSearchKey, isWriting } from '../ui/writing.js';
import { ADDRESSES, PLACES } from '../service/addresses.js';
import { api, unwrap } from '../service/api.js';
import { explain } from '../service/explain.js';
import type { RunnableWorkflow } from '../pages/workflows/run-dialog.js';
import './layout.css';
import { hold, isGuarded } from '../service/leave-guard.js';
import { ErrorBoundary } from '../service/problem.js';
import { toSignInPath } from '../service/return-address.js';
import { session, useUser, type User } from '../service/session.js';
import { chooseTheme, THEMES, useTheme, type Theme } from '../service/theme.js';

const GoTo = lazy(() => import('./go-to.js').then((module) => ({ default: module.GoTo })));
const RunDialog = lazy(() =>
  import('../pages/workflows/run-dialog.js').then((module) => ({ default: module.RunDialog })),
);
const Keys = lazy(() => import('./keys.js').then((module) => ({ default: module.Keys })));

/** The frame around every page: navigation, account and live region. */
export function Layout({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const main = useFocusOnPage(path);
  const isSignedIn = useUser() !== undefined;
  const [open, setOpen] = useState<'go-to' | 'keys' | RunnableWorkflow>();
  const close = (): void => setOpen(undefined);
  const listen = useEffectEvent((event: KeyboardEvent) => {
    focusSearch(event);
    if (event.defaultPrevented || openDialog() !== null) return;
    const wanted = isGoToKey(event) && isSignedIn ? 'go-to' : isKeysKey(event) ? 'keys' : undefined;
    if (wanted === undefined) return;
    event.preventDefault();
    setOpen(wanted);
  });
  useEffect(() => {
    const act = (event: KeyboardEvent): void => listen(event);
    addEventListener('keydown', act);
    return () => removeEventListener('keydown', act);
  }, []);
  return (
    <div className="shell">
      <a
        className="shell-skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <Bar path={path} />
      <main id="main" className="shell-main" tabIndex={-1} ref={main}>
        <ErrorBoundary key={path}>
          <Suspense fallback={<Loading />}>{children}</Suspense>
        </ErrorBoundary>
      </main>
      <Suspense>
        {open === 'go-to' && isSignedIn && <GoTo onClose={close} onRun={setOpen} />}
        {open === 'keys' && <Keys onClose={close} />}
        {typeof open === 'object' && isSignedIn && <RunDialog workflow={open} onClose={close} />}
      </Suspense>
      <LiveRegion />
    </div>
  );
}

function Bar({ path }: { path: string }) {
  const user = useUser();
  const [openAt, setOpenAt] = useState<string>();
  // A menu opened on another page counts as closed.
  const isOpen = openAt === path;
  const waiting = useWaiting();
  const menu = useRef<HTMLButtonElement>(null);
  useEscape(isOpen, () => {
    setOpenAt(undefined);
    // A link in the closed menu may have had the focus.
    menu.current?.focus();
  });
  return (
    <header className="shell-bar">
      <Link href={ADDRESSES.home} className="shell-brand" aria-label="Workflow automation, home">
        <span aria-hidden="true" className="shell-mark" />
        <span className="shell-name">Workflow automation</span>
      </Link>
      <Button
        variant="quiet"
        className="shell-menu"
        ref={menu}
        aria-expanded={isOpen}
        aria-controls="navigation"
        // The style sheet shows the number, so that the name of the button is always `Menu`.
        {...(waiting !== undefined &&
          waiting > 0 && { 'data-waiting': waiting, 'aria-description': `${waiting} waiting in the inbox` })}
        onClick={() => setOpenAt(isOpen ? undefined : path)}
      >
        Menu
      </Button>
      <Navigation isOpen={isOpen} path={path} waiting={waiting} onChoose={() => setOpenAt(undefined)} />
      <div className="shell-account">
        {user !== undefined && <AccountMenu user={user} />}
        {user === undefined && path !== ADDRESSES.signIn && (
          <ButtonLink to={toSignInPath(`${location.pathname}${location.search}`)} variant="primary">
            Sign in
          </ButtonLink>
        )}
      </div>
    </header>
  );
}

function useEscape(isOpen: boolean, close: () => void): void {
  const act = useEffectEvent(close);
  useEffect(() => {
    if (!isOpen) return undefined;
    const listen = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') act();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [isOpen]);
}

/** After navigation, moves the focus to the page's content and scrolls to the top. */
function useFocusOnPage(path: string) {
  const main = useRef<HTMLElement>(null);
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    // A field of the new page may already have the focus.
    if (main.current?.contains(document.activeElement) === true) return;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [path]);
  return main;
}

const POLL_EVERY_MS = 15_000;

interface NavigationProps {
  /** Narrow screens show the navigation only while open. */
  isOpen: boolean;
  path: string;
  /** Undefined until known. */
  waiting: number | undefined;
  onChoose: () => void;
}

function Navigation({ isOpen, path, waiting, onChoose }: NavigationProps) {
  return (
    <nav id="navigation" aria-label="Main" className={classNames('navigation', isOpen && 'navigation-open')}>
      <ul className="navigation-list">
        {PLACES.map(({ to, name }) => {
          const isHere = path === to || path.startsWith(`${to}/`);
          return (
            <li key={to}>
              <Link href={to} onClick={onChoose} className="navigation-link" aria-current={isHere ? 'page' : undefined}>
                {to === ADDRESSES.inbox ? <InboxName name={name} waiting={waiting} /> : name}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

/** Shows `Inbox 2`; screen readers read `Inbox, 2 waiting`. */
function InboxName({ name, waiting = 0 }: { name: string; waiting: number | undefined }) {
  if (waiting === 0) return name;
  return (
    <span>
      {name}
      <span className="hidden-comma">, </span>
      <span className="navigation-count">{waiting}</span>
      <span className="hidden-text"> waiting</span>
    </span>
  );
}

/**
 * Returns the number of approval requests, tasks and sign-ins that wait for the person. Undefined for visitors
 * and until loaded.
 */
function useWaiting(): number | undefined {
  const user = useUser();
  const { data } = useQuery({
    queryKey: ['approvals', 'pending', 'total'],
    queryFn: ({ signal }) => countWaiting(signal),
    enabled: user !== undefined,
    refetchInterval: POLL_EVERY_MS,
  });
  return data;
}

async function countWaiting(signal: AbortSignal): Promise<number> {
  const options = { params: { query: { status: 'pending', size: 1 } }, signal } as const;
  const [approvals, tasks, connections] = await Promise.all([
    unwrap(api.GET('/api/v1/agent-approvals/', options)),
    unwrap(api.GET('/api/v1/human-tasks/', options)),
    unwrap(api.GET('/api/v1/connections/', { params: { query: { status: 'needs_authorization', size: 1 } }, signal })),
  ]);
  return approvals.total + tasks.total + connections.total;
}

function AccountMenu({ user }: { user: User }) {
  const signOut = useMutation({ mutationFn: session.signOut });
  const leave = (): void => signOut.mutate();
  return (
    <>
      <Menu
        label="Account"
        heading={
          <>
            <strong>{user.name}</strong>
            {user.email !== null && <div>{user.email}</div>}
          </>
        }
        items={[
          // Signing out leaves the page, so unsaved changes would be lost.
          { label: 'Sign out', onSelect: () => (isGuarded() ? hold(leave) : leave()) },
          { label: 'Change password', to: `${ADDRESSES.settings}?tab=password` },
          { label: 'Sessions', to: `${ADDRESSES.settings}?tab=sessions` },
        ]}
        choice={{
          label: 'Theme',
          value: useTheme(),
          options: THEMES,
          onChange: (value) => chooseTheme(value as Theme),
        }}
      >
        {/* CSS renders the initials, so the button's name is always `Account`. */}
        <span className="account-letters" data-letters={initialsOf(user.name)} />
      </Menu>
      {signOut.isError && (
        <div className="account-problem">
          <Alert onRetry={leave} isRetrying={signOut.isPending}>
            {explain(signOut.error)} You are still signed in.
          </Alert>
        </div>
      )}
    </>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/u);
  const ends = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return ends.map((word) => firstLetter(word ?? '')).join('');
}

/** Returns the first grapheme: an emoji of several code points counts as one letter. */
function firstLetter(word: string): string {
  const [first] = new Intl.Segmenter().segment(word);
  return first?.segment.toUpperCase() ?? '';
}

/** The key `/` focuses the search field of the page or of the open dialog, unless the person is typing. */
function focusSearch(event: KeyboardEvent): void {
  if (event.defaultPrevented || !isSearchKey(event)) return;
  const dialog = openDialog();
  const search = (dialog ?? document.querySelector('main'))?.querySelector<HTMLInputElement>('input[type="search"]');
  if (!search) return;
  event.preventDefault();
  search.focus();
  search.select();
}

function isGoToKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !altKey && !shiftKey;
}

function isKeysKey({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  return key === '?' && !ctrlKey && !metaKey && !altKey && !isWriting(target);
}

function openDialog(): Element | null {
  return document.querySelector('[role="dialog"], [role="alertdialog"]');
}
