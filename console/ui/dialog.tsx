import { Dialog as Parts } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from './button.js';
import { classNames } from './class-names.js';
import './dialog.css';
import { useFocusBack } from './use-focus-back.js';

interface DialogProps {
  /** The accessible name, such as `Run workflow`. */
  title: string;
  /** Escape, a click beside it, or the button `Close`. */
  onClose: () => void;
  children: ReactNode;
  /** Buttons at the end, the main one last. */
  footer?: ReactNode;
  isWide?: boolean;
  /** A person writes in it: a click beside it does not close it, because what was written would be lost. */
  holdsText?: boolean;
}

/** A dialog is open as long as it is rendered: `{isOpen && <Dialog ...>}`. It holds the focus, and gives it back. */
export function Dialog({ title, onClose, children, footer, isWide = false, holdsText = false }: DialogProps) {
  const giveFocusBack = useFocusBack();
  return (
    <Parts.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Parts.Portal>
        <Parts.Overlay className="dialog-veil" />
        <Parts.Content
          className={classNames('dialog', isWide && 'dialog-wide')}
          aria-describedby={undefined}
          onOpenAutoFocus={focusFirstField}
          onCloseAutoFocus={giveFocusBack}
          onInteractOutside={(event) => holdsText && event.preventDefault()}
        >
          <header className="dialog-head">
            <Parts.Title className="dialog-title">{title}</Parts.Title>
            <Parts.Close asChild>
              <Button variant="quiet" aria-label="Close">
                <span aria-hidden="true">✕</span>
              </Button>
            </Parts.Close>
          </header>
          <div className="dialog-body">{children}</div>
          {footer !== undefined && <footer className="dialog-foot">{footer}</footer>}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}

/** Not the button `Close`, which comes first, but what the dialog is for. */
function focusFirstField(event: Event): void {
  const dialog = event.currentTarget instanceof HTMLElement ? event.currentTarget : undefined;
  const first = dialog?.querySelector<HTMLElement>(FIELDS);
  if (!first) return;
  event.preventDefault();
  first.focus();
}

const FIELDS = ['input', 'select', 'textarea', '[contenteditable="true"]', 'button']
  .map((name) => `.dialog-body ${name}:not(:disabled)`)
  .join();
