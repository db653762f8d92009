import { useReactFlow, useViewport } from '@xyflow/react';
import { useEffect, useRef, useState } from 'react';
import { setLabel } from './change-drawing.js';
import { labelOf, nodesOf, positionOf } from './drawing.js';
import { useStore } from './editor-store.js';
import './rename-field.css';

/** Edits the label of a node on its card. Enter, or leaving the field, stores the text; Escape discards it. */
export function RenameField({ nodeId, onClose }: { nodeId: string; onClose: () => void }) {
  const store = useStore();
  const flow = useReactFlow();
  // The field moves with the card.
  useViewport();
  const field = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  useEffect(() => field.current?.select(), []);
  const node = nodesOf(store.drawing).get(nodeId);
  const [first] = useState(() => labelOf(node, store.kinds));
  const [text, setText] = useState(first);
  if (node === undefined) return null;
  const { x, y } = positionOf(node);
  const at = flow.flowToScreenPosition({ x: x + 40, y: y + 6 });
  const end = (isKept: boolean): void => {
    if (isDone.current) return;
    isDone.current = true;
    const label = text.trim();
    // `node` is that of the last rendering. The assistant may have changed the node since, so only the label is set.
    if (isKept && label !== '' && label !== first) store.change(setLabel(store.drawing, nodeId, label));
    onClose();
  };
  return (
    <input
      className="control rename-field"
      aria-label="New label"
      style={{ left: at.x, top: at.y }}
      value={text}
      ref={field}
      onChange={({ target }) => setText(target.value)}
      onBlur={() => end(true)}
      onKeyDown={(event) => {
        // During a composition these keys end the composition, not the renaming.
        if ((event.key !== 'Enter' && event.key !== 'Escape') || event.nativeEvent.isComposing) return;
        event.preventDefault();
        event.stopPropagation();
        end(event.key === 'Enter');
        // The node has the focus again, so that the graph's keyboard shortcuts apply to it.
        document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(nodeId)}"]`)?.focus();
      }}
    />
  );
}
