import { Button } from './button.js';
import { Dialog } from './dialog.js';
import './remarks.css';

interface RemarksDialogProps {
  title: string;
  lead: string;
  /** Stands for the node in remarks that belong to none. */
  whole: string;
  warnings: readonly { node: string | null; message: string }[];
  onClose: () => void;
  onOpen: () => void;
}

/** The dialog that says what a new workflow lacks of the file or example that it comes from. */
export function RemarksDialog({ title, lead, whole, warnings, onClose, onOpen }: RemarksDialogProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onClick={onClose}>Stay here</Button>
          <Button variant="primary" onClick={onOpen}>
            Open workflow
          </Button>
        </>
      }
    >
      <p>{lead}</p>
      {/* The tabindex lets people scroll a long list by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <ul className="remarks" aria-label="Remarks" tabIndex={0}>
        {warnings.map(({ node, message }, index) => (
          // The list never changes.
          <li key={index}>
            <strong>{node ?? whole}</strong>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
