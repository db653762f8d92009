import { Suspense, useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { Button, ButtonLink } from '../ui/button.js';
import { LiveRegion, Loading } from '../ui/notices.js';
import { AccountMenu } from './account-menu.js';
import { ADDRESSES } from './addresses.js';
import { ErrorBoundary } from './error-boundary.js';
import { focusSearch } from './focus-search.js';
import './layout.css';
import { Navigation } from './navigation.js';
import { toSignInPath } from './return-address.js';
import { useUser } from './use-session.js';

/** What every page has around it: the way to the others, the account, the live region. */
export function Layout({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const main = useFocusOnPage(path);
  useEffect(() => {
    addEventListener('keydown', focusSearch);
    return () => removeEventListener('keydown', focusSearch);
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
      <LiveRegion />
    </div>
  );
}

function Bar({ path }: { path: string }) {
  const user = useUser();
  const [openAt, setOpenAt] = useState<string>();
  // A menu that was opened on another page is closed on this one.
  const isOpen = openAt === path;
  const menu = useRef<HTMLButtonElement>(null);
  useEscape(isOpen, () => {
    setOpenAt(undefined);
    // A link in it may have had the focus.
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
        onClick={() => setOpenAt(isOpen ? undefined : path)}
      >
        Menu
      </Button>
      <Navigation isOpen={isOpen} path={path} onChoose={() => setOpenAt(undefined)} />
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

/** After a change of the page the keyboard and screen readers begin at its content, as after a page load. */
function useFocusOnPage(path: string) {
  const main = useRef<HTMLElement>(null);
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    // A field of the new page may have taken the focus already.
    if (main.current?.contains(document.activeElement) === true) return;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [path]);
  return main;
}
