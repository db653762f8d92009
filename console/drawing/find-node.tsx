import { useMemo, useState } from 'react';
import { useReactFlow, type ReactFlowInstance } from '@xyflow/react';
import { dataOf, labelOf, labelsOf, nodesOf, positionOf, typeOf, type DrawnNode } from './drawing.js';
import { useStore, type EditorStore } from './editor-store.js';
import { CARD_WIDTH, HEAD_HEIGHT } from './flow-nodes.js';
import { KindIcon } from './kind-icon.js';
import { lineOf } from './kind-looks.js';
import { PickMenu, type Choice } from './pick-menu.js';

const NAMES = { title: 'Find node', search: 'Find a node', list: 'Nodes' };
/** A longer list would not help anybody. */
const MAX_SHOWN = 50;

interface FindNodeProps {
  /** Window coordinates. */
  at: { x: number; y: number };
  onClose: () => void;
}

/** Finds nodes of the drawing by label, kind and settings, and leads to the chosen one. */
export function FindNode({ at, onClose }: FindNodeProps) {
  const store = useStore();
  const flow = useReactFlow();
  const [search, setSearch] = useState('');
  // If the assistant changes the drawing while the menu is open, the list follows once the search text changes.
  const choices = useMemo(() => findNodes(store, search), [store, search]);
  return (
    <PickMenu
      {...{ names: NAMES, at, search, choices, onClose }}
      onSearch={setSearch}
      none="No node matches."
      onChoose={(id) => leadTo(store, flow, id)}
    />
  );
}

function findNodes({ drawing, kinds }: EditorStore, text: string): Choice[] {
  const words = text.trim().toLowerCase().split(/\s+/);
  const labels = labelsOf(drawing, kinds);
  const found: Choice[] = [];
  for (const node of nodesOf(drawing).values()) {
    const label = labelOf(node, kinds);
    const type = typeOf(node);
    const title = kinds.get(type)?.title ?? type;
    const where = `${label} ${title} ${JSON.stringify(dataOf(node))}`.toLowerCase();
    if (!words.every((word) => where.includes(word))) continue;
    const line = lineOf(type, dataOf(node), (id) => labels.get(id));
    found.push({
      key: node.id,
      label,
      hint: line === '' ? title : `${title}: ${line}`,
      icon: <KindIcon type={type} />,
    });
  }
  // Nodes whose label has the words come first.
  const isNamed = ({ label }: Choice): boolean => words.every((word) => label.toLowerCase().includes(word));
  return found.toSorted((one, other) => Number(isNamed(other)) - Number(isNamed(one))).slice(0, MAX_SHOWN);
}

function leadTo(store: EditorStore, flow: ReactFlowInstance, id: string): void {
  const node = nodesOf(store.drawing).get(id);
  if (node === undefined) return;
  store.select([id]);
  centre(flow, node);
}

/** Moves a node into the middle of the view, at a zoom at which it can be read. */
export function centre(flow: ReactFlowInstance, node: DrawnNode): void {
  const { x, y } = positionOf(node);
  const zoom = Math.max(flow.getZoom(), 0.6);
  void flow.setCenter(x + CARD_WIDTH / 2, y + HEAD_HEIGHT / 2, { zoom, duration: 200 });
}
