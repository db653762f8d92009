import type { ReactNode } from 'react';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { createPane, SidePane } from '../../drawing/side-pane.js';
import { Button } from '../../ui/button.js';

const pane = createPane('node panel', [280, 960]);

/**
 * The column of the chosen node, which is closed without a choice. On narrow screens it is a sheet from below. Its parts
 * stay mounted, because tests are followed there.
 */
export function NodePane({ children }: { children: ReactNode }) {
  const store = useStore();
  const isChosen = useEditor(({ selection: { nodes, links } }) => nodes.size + links.size > 0);
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
