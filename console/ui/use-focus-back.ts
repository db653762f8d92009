import { useState } from 'react';

/** Where the focus was before the dialog that is open: a dialog that takes its place gives it back there, too. */
let last: HTMLElement | undefined;

/**
 * For `onCloseAutoFocus` of a dialog without a trigger of Radix, whose focus would be lost. It goes back to where it was, or
 * to the page's content where that is gone, unless something else has taken it meanwhile.
 */
export function useFocusBack(): (event: Event) => void {
  const [place] = useState(placeOfFocus);
  return (event) => {
    event.preventDefault();
    const isTaken = document.activeElement !== null && document.activeElement !== document.body;
    if (isTaken) return;
    const target = place?.isConnected === true ? place : document.getElementById('main');
    target?.focus({ preventScroll: true });
  };
}

/** Items of a menu go away with it: their place is its button. */
function placeOfFocus(): HTMLElement | undefined {
  const { activeElement } = document;
  if (activeElement?.closest('[role="dialog"], [role="alertdialog"]')) return last;
  const button = activeElement?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  const place = typeof button === 'string' ? document.getElementById(button) : activeElement;
  last = place instanceof HTMLElement && place !== document.body ? place : undefined;
  return last;
}
