import type { ReactNode } from 'react';
import { Button } from './button.js';
import './alert.css';

interface AlertProps {
  children: ReactNode;
  /** Shows the button `Try again`. */
  onRetry?: (() => void) | undefined;
  isRetrying?: boolean;
}

/** What has failed, told at once (`role=alert`). For a failed call: `<Alert onRetry={refetch}>{explain(error)}</Alert>`. */
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
