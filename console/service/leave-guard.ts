// Asks a person with unsaved changes before they leave the page or sign out.
import { useLayoutEffect } from 'react';
import type { AroundNavHandler } from 'wouter';
import { createStore } from '../ui/store.js';

type Leave = () => void;

/** Saves what is unsaved at the call, and resolves to true if that is saved. Later changes may still be unsaved. */
type Save = () => Promise<boolean>;

/** The navigation or the sign-out that waits for the person's answer. */
export const pendingLeave = createStore<Leave | undefined>(undefined);
const guards = new Set<Save>();
let here = location.href;

/**
 * While `isDirty`, asks before the page is left: by the alertdialog `Unsaved changes`, or by the browser's own question
 * if the tab is closed or reloaded. A change of the query alone does not leave the page.
 */
export function useLeaveGuard(isDirty: boolean, save: Save): void {
  // A layout effect cleans up before the effects of the next page, which may navigate at once.
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

/**
 * The router calls this for each navigation but back and forward (`askOnWayBack`). Navigations away from a guarded page
 * wait for the person's answer.
 */
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
 * When this event arrives, the address bar has already changed. If the person must be asked, this restores the address
 * and stops the event before it reaches the router, whose listener was added after this one.
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
// The router patches these methods of `history` to dispatch an event of the same name after each call.
for (const name of ['pushState', 'replaceState']) addEventListener(name, follow);
