import { useEffect, useRef, type ReactNode } from 'react';
import { Button } from '../../ui/button.js';
import './editor.css';

interface DrawerProps {
  /** Heading and accessible name. */
  name: string;
  isBusy?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** A panel between the canvas and the bar below it, opened by a button of the bar. Escape closes the panel. */
export function Drawer({ name, isBusy = false, onClose, children }: DrawerProps) {
  const frame = useRef<HTMLElement>(null);
  useEffect(() => frame.current?.focus(), []);
  return (
    // The key is a shortcut beside the button `Close`.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      ref={frame}
      className="drawer"
      aria-label={name}
      aria-busy={isBusy}
      tabIndex={-1}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <header className="drawer-head">
        <h2>{name}</h2>
        <Button variant="quiet" aria-label={`Close ${name.toLowerCase()}`} onClick={onClose}>
          <span aria-hidden="true">✕</span>
        </Button>
      </header>
      {children}
    </section>
  );
}
