import { useReactFlow, type ReactFlowInstance } from '@xyflow/react';
import { Button } from '../ui/button.js';
import { addNode } from './change-nodes.js';
import { nodesOf, type Drawing, type Position } from './drawing.js';
import { withFrames } from './flow-frames.js';
import { freePlace } from './free-place.js';
import type { NodeKind, NodeKinds } from './node-kind.js';
import './palette.css';
import { useStore } from './use-editor.js';
import { MAX_AT_ONCE } from './use-opening-view.js';

/** What a kind is dragged as: the `type` of its nodes. */
export const KIND_FORMAT = 'application/x-node-kind';

/** The kinds of nodes, by category: press to add, or drag onto the graph. */
export function Palette() {
  const store = useStore();
  const flow = useReactFlow();
  const add = (kind: NodeKind): void => {
    const graph = document.querySelector('.react-flow')?.getBoundingClientRect() ?? new DOMRect();
    const middle = flow.screenToFlowPosition({ x: graph.x + graph.width / 2, y: graph.y + graph.height / 2 });
    const selected = withFrames(store.drawing, store.kinds, store.getState().selection.nodes);
    const place = freePlace(store.drawing, selected, middle);
    const { drawing, id } = addNode(store.drawing, store.kinds, kind, place);
    store.change(drawing, { select: [id] });
    const [from, to] = [
      flow.flowToScreenPosition(place),
      flow.flowToScreenPosition({ x: place.x + 240, y: place.y + 120 }),
    ];
    const isInSight = from.x > graph.left && to.x < graph.right && from.y > graph.top && to.y < graph.bottom;
    if (!isInSight) showNew(flow, store.drawing, place);
  };
  return (
    <div className="palette" role="group" aria-label="Add nodes">
      {categoriesOf(store.kinds).map(([category, kinds]) => (
        <div key={category} className="palette-category">
          <h2 className="palette-heading">{category}</h2>
          {kinds.map((kind) => (
            <Button
              key={kind.type}
              className="palette-kind"
              aria-label={`Add ${kind.title}`}
              title={kind.description}
              draggable
              onDragStart={(event) => event.dataTransfer.setData(KIND_FORMAT, kind.type)}
              onClick={() => add(kind)}
            >
              <span aria-hidden="true">+</span> {kind.title}
            </Button>
          ))}
        </div>
      ))}
    </div>
  );
}

/** The whole graph as long as it can be read then, else the new node in the middle. */
function showNew(flow: ReactFlowInstance, drawing: Drawing, { x, y }: Position): void {
  const zoom = flow.getZoom();
  if (nodesOf(drawing).size <= MAX_AT_ONCE) void flow.fitView({ maxZoom: zoom, padding: 0.1 });
  else void flow.setCenter(x, y, { zoom });
}

function categoriesOf(kinds: NodeKinds): [string, NodeKind[]][] {
  const categories = new Map<string, NodeKind[]>();
  for (const kind of kinds.values()) categories.set(kind.category, [...(categories.get(kind.category) ?? []), kind]);
  return [...categories];
}
