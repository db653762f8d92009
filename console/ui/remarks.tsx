import { Button } from './button.js';
import { Dialog } from './dialog.js';
import './remarks.css';

interface RemarksDialogProps {
  title: string;
  lead: string;
  /** Replaces the node's name in remarks without a node. */
  whole: string;
  warnings: readonly { node: string | null; message: string }[];
  onClose: () => void;
  /** Opens the workflow; undefined where it is open already. */
  onOpen?: () => void;
}

/** Lists what an import, a paste or a copy could not take over as it was. */
export function RemarksDialog({ title, lead, whole, warnings, onClose, onOpen }: RemarksDialogProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isWide
      footer={
        onOpen === undefined ? undefined : (
          <>
            <Button onClick={onClose}>Stay here</Button>
            <Button variant="primary" onClick={onOpen}>
              Open workflow
            </Button>
          </>
        )
      }
    >
      <p>{lead}</p>
      {/* Focusable, so that keyboard users can scroll it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <ul className="remarks" aria-label="Remarks" tabIndex={0}>
        {warnings.map(({ node, message }, index) => (
          // The index is a safe key, because the list never changes.
          <li key={index}>
            <strong>{node ?? whole}</strong>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
