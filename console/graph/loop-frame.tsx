import type { NodeProps } from '@xyflow/react';
import { memo } from 'react';
import type { FrameNode } from './flow-frames.js';
import './loop-frame.css';

/** Around the body of a loop. Its element, which React Flow makes, is the group that is named `Body of <label>`. */
export const LoopFrame = memo(function LoopFrame({ data, selected }: NodeProps<FrameNode>) {
  return (
    <div className="loop-frame" data-selected={selected || undefined}>
      <div className="loop-frame-title">
        <span className="loop-frame-label">Body of {data.label}</span>
      </div>
    </div>
  );
});
