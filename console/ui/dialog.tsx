import { AlertDialog as AlertParts, Dialog as Parts } from 'radix-ui';
import { useState, type ReactNode } from 'react';
import { Button } from './button.js';
import { classNames } from './class-names.js';
import './dialog.css';

interface DialogProps {
  /** The accessible name, such as `Run workflow`. */
  title: string;
  /** It is called on Escape, on a click beside the dialog, and by the button `Close`. */
  onClose: () => void;
  children: ReactNode;
  /** Buttons at the end, the main one last. */
  footer?: ReactNode;
  isWide?: boolean;
  /** A person writes in the dialog. A click beside it does not close it, because what was written would be lost. */
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

/** Focuses what the dialog is for, and not the button `Close`, which comes first. */
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
  /** Whether the action cannot be undone. */
  isDangerous?: boolean;
  isBusy?: boolean;
  onConfirm: () => void;
  /** It is called on Escape as well. */
  onCancel: () => void;
}

/** Asks before something is done. It is open as long as it is rendered, and the focus is on the harmless button. */
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

/**
 * The element that had the focus before the dialog that is open. A dialog that takes its place gives the focus back
 * there as well.
 */
let last: HTMLElement | undefined;

/**
 * Returns a handler for `onCloseAutoFocus`. A dialog without a trigger of Radix would lose the focus. The focus goes
 * back to where it was, or to the page's content if that is gone, unless something else has taken it meanwhile.
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

/** Items of a menu go away with it, so the focus goes back to the menu's button. */
function placeOfFocus(): HTMLElement | undefined {
  const { activeElement } = document;
  if (activeElement?.closest('[role="dialog"], [role="alertdialog"]')) return last;
  const button = activeElement?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  const place = typeof button === 'string' ? document.getElementById(button) : activeElement;
  last = place instanceof HTMLElement && place !== document.body ? place : undefined;
  return last;
}
