import { parseNodeKey } from '../../../live/live-run.js';
import { useStartedNodes } from '../../../live/run-cache.js';
import { SelectField } from '../../../ui/fields.js';
import { iterationInWords } from '../iteration-words.js';
import type { NodeChoice } from '../node-choice.js';

interface IterationsProps {
  runId: string;
  /** Labels of nodes by id. */
  labels: ReadonlyMap<string, string>;
  choice: NodeChoice;
  onSelect: (choice: NodeChoice) => void;
}

/** Only where the node was executed in iterations of a loop. */
export function Iterations({ runId, labels, choice, onSelect }: IterationsProps) {
  const { nodeId, path } = choice;
  const nodes = useStartedNodes(runId).map(parseNodeKey);
  const paths = nodes.filter((node) => node.nodeId === nodeId && node.path !== '').map((node) => node.path);
  if (paths.length === 0) return null;
  return (
    <SelectField
      label="Iteration"
      value={path}
      options={[
        ...(path === '' ? [{ value: '', label: 'Choose an iteration' }] : []),
        ...paths.map((value) => ({ value, label: iterationInWords(value, labels) })),
      ]}
      onChange={(value) => onSelect({ nodeId, path: value })}
    />
  );
}
