import type { ReactNode } from 'react';
import { onlyNode, useEditor, useStore } from '../../drawing/editor-store.js';
import { noteOfKey } from '../../drawing/notes.js';
import { createPane, SidePane } from '../../drawing/side-pane.js';
import { Button } from '../../ui/button.js';

const pane = createPane('node panel', [280, 960]);
const FIRST_WIDTH = 360;

/** Returns the width in pixels that the pane takes from the graph once a node is selected. */
export function widthOfNodePane(): number {
  const { width = FIRST_WIDTH, isFolded } = pane.getState();
  return isFolded || matchMedia('(max-width: 900px)').matches ? 0 : width;
}

/**
 * The column of the selected node, hidden without a selection. Narrow screens show it as a sheet at the bottom. Its
 * content stays mounted while it is hidden, because it follows running tests.
 */
export function NodePane({ children }: { children: ReactNode }) {
  const store = useStore();
  const isChosen = useEditor(({ selection }) => {
    const only = onlyNode(selection);
    // A note is edited on the canvas.
    if (only !== undefined) return noteOfKey(only) === undefined;
    return selection.nodes.size + selection.links.size > 0;
  });
  return (
    <div className="node-pane" hidden={!isChosen}>
      <SidePane pane={pane} side="right">
        <div className="node-pane-head">
          <Button aria-label="Close panel" onClick={() => store.select([])}>
            Close
          </Button>
        </div>
        {children}
      </SidePane>
    </div>
  );
}
