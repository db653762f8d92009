import { withoutLinks } from '../../drawing/run-links.js';
import { JsonTree } from '../../parts/node-result/json-tree.js';
import type { NodeDetail } from '../../parts/run/run-data.js';
import { CopyButton } from '../../ui/copy-button.js';
import { toText } from '../../ui/json.js';

const MISSING = {
  not_started: 'The node has not begun, so it was given nothing yet.',
  expired: 'What the node was given has expired.',
  too_large: 'What the node was given is too large to be shown.',
  unreadable: 'What the node was given can no longer be put together: something that it was made of is gone.',
} as const;

export function InputTab({ detail }: { detail: NodeDetail }) {
  if (detail.input === null) return <p>{MISSING[detail.input_missing ?? 'unreadable']}</p>;
  return <InputView input={withoutLinks(detail.input)} />;
}

/**
 * Shows the input of a node: its data with variables filled in or, for the start node, the input of the run. The
 * service has masked the secrets.
 */
export function InputView({ input }: { input: unknown }) {
  return (
    <div className="node-part">
      <p className="node-hint">What the node was given, with its variables filled in. Secrets are masked.</p>
      <JsonTree value={input} depth={3} />
      <div>
        <CopyButton text={toText(input)} label="Copy input" />
      </div>
    </div>
  );
}
