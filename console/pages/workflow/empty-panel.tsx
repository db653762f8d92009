import { nodesOf } from '../../drawing/drawing.js';
import { withFrames } from '../../drawing/flow-nodes.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { Button } from '../../ui/button.js';
import { removeSelection } from './remove-selection.js';

/** In place of a form, where not exactly one node is selected. */
export function EmptyPanel() {
  const store = useStore();
  const { nodes: selected, links } = useEditor((state) => state.selection);
  const drawing = useEditor(({ history }) => history.present);
  const nodes = withFrames(drawing, store.kinds, selected);
  const isEmpty = nodesOf(drawing).size === 0;
  const chosen = [plural(nodes.size, 'node'), plural(links.size, 'link')].filter((part) => part !== undefined);
  if (chosen.length > 0) {
    return (
      <div className="node-form">
        <p>{chosen.join(' and ')} selected.</p>
        {!store.isReadOnly && (
          <Button variant="danger" onClick={() => removeSelection(store)}>
            Delete selection
          </Button>
        )}
      </div>
    );
  }
  if (store.isReadOnly) return <p className="node-panel-empty">Select a node to see its settings.</p>;
  return (
    <div className="node-panel-empty">
      {isEmpty ? (
        <p>
          Begin with <strong>Trigger</strong>: it is where a run starts. Then add what should happen, and link the nodes
          in their order.
        </p>
      ) : (
        <p>Select a node to change its settings.</p>
      )}
      <p>
        Draw a link from the right edge of a node to the left edge of the next one, or choose it under “Connect to”.
      </p>
    </div>
  );
}

function plural(number: number, word: string): string | undefined {
  if (number === 0) return undefined;
  return number === 1 ? `1 ${word}` : `${number} ${word}s`;
}
