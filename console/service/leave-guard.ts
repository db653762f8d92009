// Asks a person with unsaved changes before they leave the page by a link, the back button or closing the tab.
import { useLayoutEffect } from 'react';
import type { AroundNavHandler } from 'wouter';
import { createStore } from '../ui/store.js';

type Leave = () => void;

/** Saves what is unsaved, and resolves to true if nothing is unsaved afterwards. */
type Save = () => Promise<boolean>;

/** The navigation that waits for the person's answer. */
export const pendingLeave = createStore<Leave | undefined>(undefined);
const guards = new Set<Save>();
let here = location.href;

/**
 * Asks before the page is left while `isDirty` (alertdialog `Unsaved changes`). A change of the query
 * alone does not ask.
 */
export function useLeaveGuard(isDirty: boolean, save: Save): void {
  // A layout effect cleans up before the next page renders, which may navigate at once.
  useLayoutEffect(() => (isDirty ? guard(save) : undefined), [isDirty, save]);
}

/** Saves the page's unsaved changes. Resolves to false if some could not be saved. */
export async function saveGuarded(): Promise<boolean> {
  const saved = await Promise.all([...guards].map((save) => save()));
  return saved.every(Boolean);
}

/** True if the page has unsaved changes. */
export function isGuarded(): boolean {
  return guards.size > 0;
}

/** The router calls this for each navigation. Navigations away from a guarded page wait for the answer. */
export const guardedNavigation: AroundNavHandler = (navigate, to, options) => {
  if (isGuarded() && isElsewhere(to, location.href)) hold(() => navigate(to, options));
  else navigate(to, options);
};

/** Asks the person, and calls `leave` if they agree. */
export function hold(leave: Leave): void {
  pendingLeave.setState(leave);
}

function guard(save: Save): () => void {
  guards.add(save);
  addEventListener('beforeunload', askBrowser);
  return () => {
    guards.delete(save);
    if (!isGuarded()) removeEventListener('beforeunload', askBrowser);
  };
}

function askBrowser(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/**
 * When this event arrives, the address bar has already changed. While the person is asked, the event is stopped before
 * it reaches the router, whose listener was added after this one.
 */
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
// The router dispatches these events after its own changes of the address.
for (const name of ['pushState', 'replaceState']) addEventListener(name, follow);
