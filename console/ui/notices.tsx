import type { ReactNode } from 'react';
import { Button } from './button.js';
import './notices.css';
import { createStore, useStored } from './store.js';

interface AlertProps {
  children: ReactNode;
  /** Handler of the button `Try again`. */
  onRetry?: (() => void) | undefined;
  isRetrying?: boolean;
}

/**
 * An error that screen readers announce at once (`role=alert`): `<Alert onRetry={refetch}>{explain(error)}</Alert>`.
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

/** A remark that is not an error. */
export function Note({ children }: { children: ReactNode }) {
  return <div className="note">{children}</div>;
}

/** Placeholder during loading (`aria-busy`). Appears after a delay, so that quick responses do not flicker. */
export function Loading({ label = 'Loading' }: { label?: string }) {
  return (
    <div className="loading" aria-busy="true">
      <span className="loading-ring" aria-hidden="true" />
      <span>{label}…</span>
    </div>
  );
}

const message = createStore('');

/** Announces a text to screen readers without moving the focus: `Saved`. */
export function announce(text: string): void {
  // Screen readers only announce changes, so a repeated text gets a trailing space.
  message.setState(text === message.getState() ? `${text}\u00a0` : text);
}

/** The live region (`role=status`) that shows the texts of `announce`. */
export function LiveRegion() {
  const text = useStored(message, (state) => state);
  return (
    <div className="hidden-text" role="status">
      {text}
    </div>
  );
}
