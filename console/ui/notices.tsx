import type { ReactNode } from 'react';
import { Button } from './button.js';
import './notices.css';
import { createStore, useStored } from './store.js';

interface AlertProps {
  children: ReactNode;
  /** Shows the button `Try again`. */
  onRetry?: (() => void) | undefined;
  isRetrying?: boolean;
}

/**
 * A failure, which screen readers read at once (`role=alert`). For a failed call: `<Alert
 * onRetry={refetch}>{explain(error)}</Alert>`.
 */
export function Alert({ children, onRetry, isRetrying = false }: AlertProps) {
  return (
    <div className="alert" role="alert">
      <div className="alert-text">{children}</div>
      {onRetry !== undefined && (
        <Button onClick={onRetry} isBusy={isRetrying}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** A remark that is no failure, such as how to begin on an empty page. */
export function Note({ children }: { children: ReactNode }) {
  return <div className="note">{children}</div>;
}

/**
 * Stands in place of what is being loaded (`aria-busy`). It is visible after a moment only, so that quick answers do
 * not flicker.
 */
export function Loading({ label = 'Loading' }: { label?: string }) {
  return (
    <div className="loading" aria-busy="true">
      <span className="loading-ring" aria-hidden="true" />
      <span>{label}…</span>
    </div>
  );
}

const message = createStore('');

/** Tells screen readers what has happened without the focus moving there: `Saved`, `The run has succeeded`. */
export function announce(text: string): void {
  // Screen readers read the same sentence twice only if the text has changed.
  message.setState(text === message.getState() ? `${text}\u00a0` : text);
}

/** The one live region of the page (`role=status`). */
export function LiveRegion() {
  const text = useStored(message, (said) => said);
  return (
    <div className="hidden-text" role="status">
      {text}
    </div>
  );
}
