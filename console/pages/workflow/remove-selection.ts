import { disconnect, removeNodes } from '../../drawing/change-drawing.js';
import type { EditorStore } from '../../drawing/editor-store.js';
import { withFrames } from '../../drawing/flow-nodes.js';
import { linksOf } from '../../drawing/links.js';

/** Everything that is selected, as one step. */
export function removeSelection(store: EditorStore): void {
  const { selection } = store.getState();
  const links = linksOf(store.drawing, store.kinds).filter(({ id }) => selection.links.has(id));
  const nodes = withFrames(store.drawing, store.kinds, selection.nodes);
  const unlinked = links.length === 0 ? store.drawing : disconnect(store.drawing, store.kinds, links);
  store.change(removeNodes(unlinked, store.kinds, nodes), { select: [] });
}
