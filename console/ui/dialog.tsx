import { AlertDialog as AlertParts, Dialog as Parts } from 'radix-ui';
import { useState, type ReactNode } from 'react';
import { Button } from './button.js';
import { classNames } from './class-names.js';
import './dialog.css';

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

interface ConfirmDialogProps {
  /** The accessible name of the alertdialog, such as `Unsaved changes`. */
  title: string;
  children: ReactNode;
  confirmLabel: string;
  cancelLabel?: string;
  /** What is confirmed cannot be taken back. */
  isDangerous?: boolean;
  isBusy?: boolean;
  onConfirm: () => void;
  /** Escape, too. */
  onCancel: () => void;
}

/** Asks before something is done; it is open as long as it is rendered, and the focus is on the harmless button. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, confirmLabel, cancelLabel = 'Cancel', isDangerous = false, isBusy = false } = props;
  const giveFocusBack = useFocusBack();
  return (
    <AlertParts.Root open onOpenChange={(isOpen) => !isOpen && props.onCancel()}>
      <AlertParts.Portal>
        <AlertParts.Overlay className="dialog-veil" />
        <AlertParts.Content className="dialog" onCloseAutoFocus={giveFocusBack}>
          <header className="dialog-head">
            <AlertParts.Title className="dialog-title">{title}</AlertParts.Title>
          </header>
          <AlertParts.Description asChild>
            <div className="dialog-body">{children}</div>
          </AlertParts.Description>
          <footer className="dialog-foot">
            <AlertParts.Cancel asChild>
              <Button>{cancelLabel}</Button>
            </AlertParts.Cancel>
            <Button variant={isDangerous ? 'danger' : 'primary'} isBusy={isBusy} onClick={props.onConfirm}>
              {confirmLabel}
            </Button>
          </footer>
        </AlertParts.Content>
      </AlertParts.Portal>
    </AlertParts.Root>
  );
}

/** Where the focus was before the dialog that is open: a dialog that takes its place gives it back there, too. */
let last: HTMLElement | undefined;

/**
 * For `onCloseAutoFocus` of a dialog without a trigger of Radix, whose focus would be lost. It goes back to where it was, or
 * to the page's content where that is gone, unless something else has taken it meanwhile.
 */
function useFocusBack(): (event: Event) => void {
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
