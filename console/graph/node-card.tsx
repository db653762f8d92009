import { Handle, Position as Side, type NodeProps } from '@xyflow/react';
import { memo } from 'react';
import { exitTop, hasRows, HEAD_HEIGHT } from './card-size.js';
import type { Exit } from './exits.js';
import type { FlowNode } from './flow-nodes.js';
import './node-card.css';

/** One node of the graph. Its frame, which React Flow makes, is the group that is named by the label. */
export const NodeCard = memo(function NodeCard({ data, isConnectable, selected }: NodeProps<FlowNode>) {
  const { label, title, category, exits, isEntrance, isStart, errors, warnings } = data;
  return (
    <div className="node-card" data-category={category} data-selected={selected || undefined}>
      <Handle
        type="target"
        position={Side.Left}
        style={{ top: HEAD_HEIGHT / 2 }}
        isConnectable={isConnectable && isEntrance}
        className={isEntrance ? undefined : 'node-card-closed'}
      />
      <div className="node-card-head">
        <span className="node-card-title">
          {title}
          {isStart && ' · starts here'}
        </span>
        <span className="node-card-label">{label}</span>
        {errors + warnings > 0 && (
          <span className={errors > 0 ? 'node-card-mark' : 'node-card-mark node-card-warning'}>
            {count(errors + warnings, 'problem')}
          </span>
        )}
      </div>
      <Exits exits={exits} isConnectable={isConnectable} />
    </div>
  );
});

function Exits({ exits, isConnectable }: { exits: readonly Exit[]; isConnectable: boolean }) {
  const isNamed = hasRows(exits);
  return exits.map(({ handle, label }, at) => (
    <div key={handle ?? ''} className={isNamed ? 'node-card-exit' : undefined}>
      {isNamed && <span className="node-card-exit-label">{label}</span>}
      <Handle
        type="source"
        position={Side.Right}
        id={handle}
        style={{ top: exitTop(exits, at) }}
        isConnectable={isConnectable}
      />
    </div>
  ));
}

function count(number: number, word: string): string {
  return number === 1 ? `1 ${word}` : `${number} ${word}s`;
}
