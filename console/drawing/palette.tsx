import { useReactFlow, type ReactFlowInstance } from '@xyflow/react';
import { useMemo, useState, type ReactNode } from 'react';
import { MAX_NOTES } from '../../graph/notes.js';
import { pushTo } from '../../graph/push-to.js';
import { Button } from '../ui/button.js';
import { FailedChoices } from '../service/problem.js';
import { useActions, type FoundAction } from '../service/services.js';
import { announce } from '../ui/notices.js';
import { ACTION_FORMAT, KIND_FORMAT, kindOfAction, toDrawn, useProjectId } from './action-kind.js';
import { addNode, freePlace } from './change-drawing.js';
import { isStart, nodesOf, positionOf, type Drawing, type NodeKind, type Position } from './drawing.js';
import { onlyNode, useStore, type EditorStore } from './editor-store.js';
import { withFrames } from './flow-nodes.js';
import { addNext } from './insert.js';
import { KindIcon } from './kind-icon.js';
import { searchKinds } from './kind-search.js';
import { addNote } from './notes.js';
import './palette.css';
import { ServiceIcon } from './service-icon.js';
import { createPane, SidePane } from './side-pane.js';
import { MAX_AT_ONCE } from './use-flow.js';

export const palettePane = createPane('palette', [150, 420]);

/**
 * The kinds of nodes by category, and the actions of services that the search finds. A person clicks one to add it
 * behind the selected node, or drags it onto the graph. `children` are the last part of the palette.
 */
export function Palette({ children }: { children?: ReactNode }) {
  const store = useStore();
  const flow = useReactFlow();
  const [search, setSearch] = useState('');
  const found = useMemo(() => searchKinds([...store.kinds.values()], search), [store.kinds, search]);
  const hasNote = 'note'.includes(search.trim().toLowerCase());
  const { found: actions, isSearching, query } = useActions(useProjectId(), search);
  const place = () => {
    const graph = document.querySelector('.react-flow')?.getBoundingClientRect() ?? new DOMRect();
    const middle = flow.screenToFlowPosition({ x: graph.x + graph.width / 2, y: graph.y + graph.height / 2 });
    return { graph, middle };
  };
  const addOneNote = (): void => {
    const added = addNote(store.drawing, place().middle);
    if (added === undefined) announce(`A drawing may have ${MAX_NOTES} notes at most`);
    else store.change(added.drawing, { select: [added.key] });
  };
  const add = (kind: NodeKind | undefined): void => {
    if (kind === undefined) return;
    const { graph, middle } = place();
    const { drawing, id } = addOne(store, kind, middle);
    store.change(drawing, { select: [id] });
    const at = positionOf(nodesOf(drawing).get(id)!);
    const [from, to] = [flow.flowToScreenPosition(at), flow.flowToScreenPosition({ x: at.x + 240, y: at.y + 120 })];
    const isInSight = from.x > graph.left && to.x < graph.right && from.y > graph.top && to.y < graph.bottom;
    if (!isInSight) showNew(flow, store.drawing, at);
  };
  return (
    <SidePane pane={palettePane} side="left" className="palette-pane">
      <div className="palette" role="group" aria-label="Add nodes">
        <input
          type="search"
          className="control palette-search"
          aria-label="Search nodes"
          aria-keyshortcuts="/"
          placeholder="Search nodes"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
          onKeyDown={({ key, nativeEvent }) => {
            if (key !== 'Enter' || nativeEvent.isComposing || search.trim() === '') return;
            const [action] = actions;
            add(found[0] ?? (action && kindOfAction(store.kinds, toDrawn(action))));
          }}
        />
        {found.length === 0 && !hasNote && actions.length === 0 && (
          <p className="palette-heading">{isSearching ? 'Searching the services…' : 'Nothing matches.'}</p>
        )}
        {categoriesOf(found).map(([category, kinds]) => (
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
                <KindIcon type={kind.type} /> {kind.title}
              </Button>
            ))}
          </div>
        ))}
        {byService(actions).map(([service, some]) => (
          <div key={service.id} className="palette-category">
            <h2 className="palette-heading">{service.name}</h2>
            {some.map((action) => (
              <ActionButton
                key={action.action.id}
                found={action}
                onAdd={() => add(kindOfAction(store.kinds, toDrawn(action)))}
              />
            ))}
          </div>
        ))}
        <FailedChoices noun="services" query={query} />
        {hasNote && (
          <div className="palette-category">
            <h2 className="palette-heading">Notes</h2>
            <Button className="palette-kind" aria-label="Add note" title="A note beside the nodes" onClick={addOneNote}>
              <span className="palette-note" aria-hidden="true" /> Note
            </Button>
          </div>
        )}
        {children}
      </div>
    </SidePane>
  );
}

function ActionButton({ found, onAdd }: { found: FoundAction; onAdd: () => void }) {
  const { service, action } = found;
  return (
    <Button
      className="palette-kind"
      aria-label={`Add ${service.name}: ${action.title}`}
      title={action.description || `${action.method} ${action.path}`}
      draggable
      onDragStart={(event) => event.dataTransfer.setData(ACTION_FORMAT, JSON.stringify(toDrawn(found)))}
      onClick={onAdd}
    >
      <ServiceIcon {...service} /> <span className="palette-action">{action.title}</span>
    </Button>
  );
}

function byService(found: readonly FoundAction[]): [FoundAction['service'], FoundAction[]][] {
  const groups = new Map<FoundAction['service'], FoundAction[]>();
  for (const each of found) pushTo(groups, each.service, each);
  return [...groups];
}

/** Adds a node behind the selected one if that is possible, else in a free place (`freePlace`). */
function addOne({ drawing, kinds, getState }: EditorStore, kind: NodeKind, middle: Position) {
  const { selection } = getState();
  const source = isStart(kind) ? undefined : onlyNode(selection);
  const next = source === undefined ? undefined : addNext(drawing, kinds, kind, source);
  return next ?? addNode(drawing, kinds, kind, freePlace(drawing, withFrames(drawing, kinds, selection.nodes), middle));
}

/** Shows the whole graph if it is small, else centres the new node. */
function showNew(flow: ReactFlowInstance, drawing: Drawing, { x, y }: Position): void {
  const zoom = flow.getZoom();
  if (nodesOf(drawing).size <= MAX_AT_ONCE) void flow.fitView({ maxZoom: zoom, padding: 0.1 });
  else void flow.setCenter(x, y, { zoom });
}

function categoriesOf(kinds: readonly NodeKind[]): [string, NodeKind[]][] {
  const categories = new Map<string, NodeKind[]>();
  for (const kind of kinds) pushTo(categories, kind.category, kind);
  return [...categories];
}
