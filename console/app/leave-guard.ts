// Who has unsaved changes is asked before the page is left, whichever way: a link, the back button, closing the tab.
import { useEffect, useSyncExternalStore } from 'react';
import type { AroundNavHandler } from 'wouter';

type Leave = () => void;

const listeners = new Set<() => void>();
let guards = 0;
let pending: Leave | undefined;

/** While `isDirty`, leaving the page asks (alertdialog `Unsaved changes`). Changes of the query alone do not leave it. */
export function useLeaveGuard(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return undefined;
    const { href } = location;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    const stay = (event: PopStateEvent): void => {
      const target = `${location.pathname}${location.search}${location.hash}`;
      if (location.pathname === new URL(href).pathname) return;
      // The address bar has changed already, and the router must not see it.
      event.stopImmediatePropagation();
      history.pushState(null, '', href);
      hold(() => {
        history.pushState(null, '', target);
        dispatchEvent(new PopStateEvent('popstate'));
      });
    };
    guards += 1;
    addEventListener('beforeunload', ask);
    addEventListener('popstate', stay, { capture: true });
    return () => {
      guards -= 1;
      removeEventListener('beforeunload', ask);
      removeEventListener('popstate', stay, { capture: true });
    };
  }, [isDirty]);
}

/** For the router: holds back what would leave a guarded page. */
export const guardedNavigation: AroundNavHandler = (navigate, to, options) => {
  const isElsewhere = new URL(to, location.href).pathname !== location.pathname;
  if (guards > 0 && isElsewhere) hold(() => navigate(to, options));
  else navigate(to, options);
};

/** What waits for the person's answer, and how to answer. */
export function usePendingLeave(): Leave | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => pending,
  );
}

export function hold(leave: Leave | undefined): void {
  pending = leave;
  for (const listener of listeners) listener();
}
