// Who has unsaved changes is asked before the page is left, whichever way: a link, the back button, closing the tab.
import { useLayoutEffect, useSyncExternalStore } from 'react';
import type { AroundNavHandler } from 'wouter';

type Leave = () => void;

const listeners = new Set<() => void>();
let guards = 0;
let pending: Leave | undefined;

/** While `isDirty`, leaving the page asks (alertdialog `Unsaved changes`). Changes of the query alone do not leave it. */
export function useLeaveGuard(isDirty: boolean): void {
  // As a layout effect it has ended before a page that comes instead of this one leads elsewhere.
  useLayoutEffect(() => (isDirty ? guard() : undefined), [isDirty]);
}

/** Whether there is something to lose. */
export function isGuarded(): boolean {
  return guards > 0;
}

/** For the router: holds back what would leave a guarded page. */
export const guardedNavigation: AroundNavHandler = (navigate, to, options) => {
  if (isGuarded() && isElsewhere(to, location.href)) hold(() => navigate(to, options));
  else navigate(to, options);
};

/** What waits for the person's answer, and does it. */
export function usePendingLeave(): Leave | undefined {
  return useSyncExternalStore(subscribe, () => pending);
}

/** Undefined: nothing waits any more. */
export function hold(leave: Leave | undefined): void {
  pending = leave;
  for (const listener of listeners) listener();
}

/** Answers what ends it. */
function guard(): () => void {
  let here = location.href;
  const follow = (): void => void (here = location.href);
  const askBrowser = (event: BeforeUnloadEvent): void => event.preventDefault();
  const askOnWayBack = (event: PopStateEvent): void => {
    const target = location.href;
    if (!isElsewhere(target, here)) return follow();
    // The address bar has changed already; the router must not see it.
    event.stopImmediatePropagation();
    history.pushState(null, '', here);
    hold(() => history.pushState(null, '', target));
  };
  guards += 1;
  addEventListener('beforeunload', askBrowser);
  addEventListener('popstate', askOnWayBack, { capture: true });
  // The router's own events.
  for (const name of ['pushState', 'replaceState']) addEventListener(name, follow);
  return () => {
    guards -= 1;
    removeEventListener('beforeunload', askBrowser);
    removeEventListener('popstate', askOnWayBack, { capture: true });
    for (const name of ['pushState', 'replaceState']) removeEventListener(name, follow);
  };
}

function isElsewhere(to: string, here: string): boolean {
  return new URL(to, here).pathname !== new URL(here).pathname;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
