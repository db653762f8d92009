// A person with unsaved changes is asked before they leave the page: by a link, by the back button or by closing the
// tab.
import { useLayoutEffect } from 'react';
import type { AroundNavHandler } from 'wouter';
import { createStore } from '../ui/store.js';

type Leave = () => void;

/** The way out that waits for the person's answer; undefined while nothing waits. */
export const pendingLeave = createStore<Leave | undefined>(undefined);
let guards = 0;
/** The address of the page that is shown. */
let here = location.href;

/** While `isDirty`, leaving the page asks (alertdialog `Unsaved changes`). Changes of the query alone do not leave it. */
export function useLeaveGuard(isDirty: boolean): void {
  // A layout effect ends before the next page, which may lead elsewhere at once, is shown.
  useLayoutEffect(() => (isDirty ? guard() : undefined), [isDirty]);
}

/** Returns whether there is something to lose. */
export function isGuarded(): boolean {
  return guards > 0;
}

/** The router calls this. It holds back what would leave a guarded page. */
export const guardedNavigation: AroundNavHandler = (navigate, to, options) => {
  if (isGuarded() && isElsewhere(to, location.href)) hold(() => navigate(to, options));
  else navigate(to, options);
};

/** Asks before `leave` is done. */
export function hold(leave: Leave): void {
  pendingLeave.setState(leave);
}

/** Returns the function that ends the guard. */
function guard(): () => void {
  guards += 1;
  addEventListener('beforeunload', askBrowser);
  return () => {
    guards -= 1;
    if (!isGuarded()) removeEventListener('beforeunload', askBrowser);
  };
}

function askBrowser(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** The address bar has changed already. The router must not see it, and it began to listen after this module. */
function askOnWayBack(event: PopStateEvent): void {
  const target = location.href;
  if (!isGuarded() || !isElsewhere(target, here)) return follow();
  event.stopImmediatePropagation();
  history.pushState(null, '', here);
  hold(() => history.pushState(null, '', target));
}

function follow(): void {
  here = location.href;
}

function isElsewhere(to: string, from: string): boolean {
  return new URL(to, from).pathname !== new URL(from).pathname;
}

addEventListener('popstate', askOnWayBack);
// The router tells of its own changes by these events.
for (const name of ['pushState', 'replaceState']) addEventListener(name, follow);
