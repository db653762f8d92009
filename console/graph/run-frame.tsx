import type { Node, NodeProps } from '@xyflow/react';
import { use } from 'react';
import { useNodeEntry } from '../live/run-cache.js';
import './loop-frame.css';
import { RunGraphContext } from './run-graph-context.js';

export type RunFrameNode = Node<{ label: string; loop: string }, 'frame'>;

/** Around the body of a loop as it ran: a group named `Body of <label>`, with how many iterations are over. */
export function RunFrame({ data: { label, loop } }: NodeProps<RunFrameNode>) {
  const { runId } = use(RunGraphContext);
  // Of a loop in another one there is an entry for each iteration of that, and none here.
  const counts = useNodeEntry(runId, loop)?.iterations;
  return (
    <div role="group" aria-label={`Body of ${label}`} className="loop-frame">
      <div className="loop-frame-title">
        <span className="loop-frame-label">Body of {label}</span>
        {counts !== undefined && (
          <span className="loop-frame-progress">
            {counts.succeeded + counts.failed} of {counts.total}
          </span>
        )}
      </div>
    </div>
  );
}
