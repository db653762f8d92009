import type { ReactNode } from 'react';
import { Button } from '../../ui/button.js';
import './side-chat.css';

interface SideChatProps {
  /** Heading and accessible name. */
  name: string;
  /** Starts another conversation; undefined while there is none. */
  onNew: (() => void) | undefined;
  onClose: () => void;
  /** A line below the heading. */
  hint: ReactNode;
  children: ReactNode;
}

/** A conversation beside the canvas. On narrow screens it covers the page. */
export function SideChat({ name, onNew, onClose, hint, children }: SideChatProps) {
  return (
    <section className="side-chat chat-main" aria-label={name}>
      <header className="chat-bar">
        <h2 className="chat-title">{name}</h2>
        {onNew !== undefined && (
          <Button variant="quiet" onClick={onNew}>
            New conversation
          </Button>
        )}
        <Button variant="quiet" aria-label={`Close ${lowerFirst(name)}`} onClick={onClose}>
          <span aria-hidden="true">×</span>
        </Button>
        {hint}
      </header>
      {children}
    </section>
  );
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
