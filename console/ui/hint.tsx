import type { ReactNode } from 'react';
import './field.css';
import { WithCode } from './with-code.js';

interface HintProps {
  id?: string;
  children: ReactNode;
}

/** What a label does not say. Words between backquotes are code. */
export function Hint({ id, children }: HintProps) {
  return (
    <p className="field-hint" id={id}>
      {typeof children === 'string' ? <WithCode text={children} /> : children}
    </p>
  );
}
