import type { ReactNode } from 'react';
import './alert.css';

/** A remark in place that is no failure, such as how to begin on an empty page. */
export function Note({ children }: { children: ReactNode }) {
  return <div className="note">{children}</div>;
}
