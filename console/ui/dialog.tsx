import { AlertDialog as AlertParts, Dialog as Parts } from 'radix-ui';
import { useState, type ReactNode } from 'react';
import { Button } from './button.js';
import { classNames } from './class-names.js';
import './dialog.css';

interface DialogProps {
  /** Accessible name, such as `Run workflow`. */
  title: string;
  /** Called on Escape, on a click beside the dialog, and by the button `Close`. */
  onClose: () => void;
  children: ReactNode;
  /** Buttons at the bottom, the main one last. */
  footer?: ReactNode;
  isWide?: boolean;
  /** True to fill the window. */
  isTall?: boolean;
  /**
   * True if the dialog contains text fields. A click beside the dialog then does not close it, because the
   * text would be lost.
   */
  holdsText?: boolean;
}

/** Open while rendered: `{isOpen && <Dialog ...>}`. Traps the focus, and restores it when closed. */
export function Dialog(props: DialogProps) {
  const { title, onClose, children, footer, isWide = false, isTall = false, holdsText = false } = props;
  const giveFocusBack = useFocusBack();
  return (
    <Parts.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Parts.Portal>
        <Parts.Overlay className="dialog-veil" />
        <Parts.Content
          className={classNames('dialog', isWide && 'dialog-wide', isTall && 'dialog-tall')}
          aria-describedby={undefined}
          onOpenAutoFocus={focusFirstField}
          onCloseAutoFocus={giveFocusBack}
          onInteractOutside={(event) => holdsText && event.preventDefault()}
          onEscapeKeyDown={closeListFirst}
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

/** Event that closes the list of suggestions of an editor. */
export const CLOSE_LIST = 'close-list';

/** A list that is always shown, such as that of `SearchList`, cannot be closed. */
const OPEN_LIST = '.cm-editor [aria-activedescendant], [role="combobox"][aria-expanded="true"]';

/** Lets Escape close an open list of suggestions instead of the dialog, although the dialog receives the key first. */
function closeListFirst(event: KeyboardEvent): void {
  const { target } = event;
  if (!(target instanceof Element) || target.closest(OPEN_LIST) === null) return;
  event.preventDefault();
  target.dispatchEvent(new CustomEvent(CLOSE_LIST));
}

/** Focuses the first field or button of the body instead of the button `Close`. */
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
  /** Accessible name, such as `Unsaved changes`. */
  title: string;
  children: ReactNode;
  confirmLabel: string;
  cancelLabel?: string;
  isDangerous?: boolean;
  isBusy?: boolean;
  /** A third button, which is then the main one. */
  alternative?: { label: string; isBusy: boolean; onChoose: () => void };
  onConfirm: () => void;
  /** Escape cancels as well. */
  onCancel: () => void;
}

/** Asks for confirmation (role `alertdialog`). Open while rendered. The safe button has the focus. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, confirmLabel, cancelLabel = 'Cancel', isDangerous = false, isBusy = false } = props;
  const { alternative } = props;
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
            {alternative !== undefined && (
              <Button variant="primary" isBusy={alternative.isBusy} onClick={alternative.onChoose}>
                {alternative.label}
              </Button>
            )}
          </footer>
        </AlertParts.Content>
      </AlertParts.Portal>
    </AlertParts.Root>
  );
}

/**
 * The element that had the focus before the open dialog. A dialog that replaces the open one restores the focus to the
 * same element.
 */
let last: HTMLElement | undefined;

/**
 * Returns a handler for `onCloseAutoFocus`, because Radix cannot restore the focus of a dialog without a trigger. The
 * handler focuses the previous element, or the page's content if that element is gone, unless another element has the
 * focus.
 */
function useFocusBack(): (event: Event) => void {
  const [places] = useState(placesOfFocus);
  return (event) => {
    event.preventDefault();
    const isElsewhere = document.activeElement !== null && document.activeElement !== document.body;
    if (isElsewhere) return;
    const target = places.find((place) => place.isConnected) ?? document.getElementById('main');
    target?.focus({ preventScroll: true });
  };
}

/**
 * Returns the elements that may get the focus back, the preferred one first. If the focus is in a dialog, which may
 * stay open beneath the new one, the focused element comes before `last`. Menu items unmount with their menu, so the
 * menu's button stands in for them.
 */
function placesOfFocus(): HTMLElement[] {
  const { activeElement } = document;
  if (activeElement?.closest('[role="dialog"], [role="alertdialog"]'))
    return [activeElement, last].filter((each) => each instanceof HTMLElement);
  const button = activeElement?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  const place = typeof button === 'string' ? document.getElementById(button) : activeElement;
  last = place instanceof HTMLElement && place !== document.body ? place : undefined;
  return last === undefined ? [] : [last];
}
