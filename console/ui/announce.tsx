import { useSyncExternalStore } from 'react';

let message = '';
const listeners = new Set<() => void>();

/** Tells screen readers what has happened without the focus moving there: `Saved`, `The run has succeeded`. */
export function announce(text: string): void {
  // The same sentence twice is told twice only when the text has changed.
  message = text === message ? `${text}\u00a0` : text;
  for (const listener of listeners) listener();
}

/** The one live region of the page (`role=status`). */
export function LiveRegion() {
  const text = useSyncExternalStore(subscribe, () => message);
  return (
    <div className="hidden-text" role="status">
      {text}
    </div>
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
