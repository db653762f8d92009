import { AlertDialog as Parts } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from './button.js';
import './dialog.css';
import { useFocusBack } from './use-focus-back.js';

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
    <Parts.Root open onOpenChange={(isOpen) => !isOpen && props.onCancel()}>
      <Parts.Portal>
        <Parts.Overlay className="dialog-veil" />
        <Parts.Content className="dialog" onCloseAutoFocus={giveFocusBack}>
          <header className="dialog-head">
            <Parts.Title className="dialog-title">{title}</Parts.Title>
          </header>
          <Parts.Description asChild>
            <div className="dialog-body">{children}</div>
          </Parts.Description>
          <footer className="dialog-foot">
            <Parts.Cancel asChild>
              <Button>{cancelLabel}</Button>
            </Parts.Cancel>
            <Button variant={isDangerous ? 'danger' : 'primary'} isBusy={isBusy} onClick={props.onConfirm}>
              {confirmLabel}
            </Button>
          </footer>
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}
