import { CopyButton } from '../../../ui/copy-button.js';
import { JsonTree } from '../content/json-tree.js';
import { toText } from '../../../drawing/json.js';
import type { NodeDetail } from '../run-data.js';

const MISSING = {
  not_started: 'The node has not begun, so it was given nothing yet.',
  expired: 'What the node was given has expired.',
  too_large: 'What the node was given is too large to be shown.',
  unreadable: 'What the node was given can no longer be put together: something that it was made of is gone.',
} as const;

/** The node's data with its variables filled in; secrets are masked by the service. */
export function InputTab({ detail }: { detail: NodeDetail }) {
  if (detail.input === null) return <p>{MISSING[detail.input_missing ?? 'unreadable']}</p>;
  return (
    <div className="node-part">
      <p className="node-hint">What the node was given, with its variables filled in. Secrets are masked.</p>
      <JsonTree value={detail.input} depth={3} />
      <div>
        <CopyButton text={toText(detail.input)} label="Copy input" />
      </div>
    </div>
  );
}
