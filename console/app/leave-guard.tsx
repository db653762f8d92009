// Who has unsaved changes is asked before the page is left, whichever way: a link, the back button, closing the tab.
import { useLayoutEffect } from 'react';
import type { AroundNavHandler } from 'wouter';
import { ConfirmDialog } from '../ui/dialog.js';
import { createStore, useStored } from '../ui/store.js';

type Leave = () => void;

/** What waits for the person's answer, and does it; undefined while nothing waits. */
const pending = createStore<Leave | undefined>(undefined);
let guards = 0;
/** The address of the page that is shown. */
let here = location.href;

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

/** Asks before `leave` is done. */
export function hold(leave: Leave): void {
  pending.setState(leave);
}

/** Answers what ends it. */
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

/** The address bar has changed already, and the router, which began to listen after this module, must not see it. */
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
// The router's own events.
for (const name of ['pushState', 'replaceState']) addEventListener(name, follow);

export function LeaveDialog() {
  const leave = useStored(pending, (held) => held);
  const close = (): void => pending.setState(undefined);
  if (leave === undefined) return null;
  return (
    <ConfirmDialog
      title="Unsaved changes"
      confirmLabel="Leave"
      cancelLabel="Stay"
      isDangerous
      onCancel={close}
      onConfirm={() => {
        close();
        leave();
      }}
    >
      <p>What you have changed here is not saved. It is lost when you leave.</p>
    </ConfirmDialog>
  );
}
