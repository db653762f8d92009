import { Handle, Position, type Node, type NodeProps } from '@xyflow/react';
import { use } from 'react';
import { useNodeStatus } from '../live/run-cache.js';
import { classNames } from '../ui/class-names.js';
import { RunGraphContext } from './run-graph-context.js';
import './run-graph-node.css';

export type RunFlowNode = Node<{ label: string; kind: string }, 'run'>;

/** A node as it ran: a group named `<label>, <status>`, and in it the button that shows the details. */
export function RunGraphNode({ id, data: { label, kind } }: NodeProps<RunFlowNode>) {
  const { runId, selected, onSelect } = use(RunGraphContext);
  const status = useNodeStatus(runId, id);
  const tone = status.split(',')[0]!.replace(' ', '-');
  return (
    <div
      role="group"
      aria-label={`${label}, ${status}`}
      className={classNames(
        'run-node',
        `run-node-${tone}`,
        status.endsWith('reused') && 'run-node-reused',
        selected === id && 'run-node-selected',
      )}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button type="button" className="run-node-button" aria-pressed={selected === id} onClick={() => onSelect(id)}>
        <span className="run-node-label">{label}</span>
        <span className="run-node-foot">
          <span className="run-node-status">{status}</span>
          <span className="run-node-kind">{kind}</span>
        </span>
      </button>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}
