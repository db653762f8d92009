import { disconnect } from '../../graph/change-links.js';
import { removeNodes } from '../../graph/change-nodes.js';
import type { EditorStore } from '../../graph/editor-store.js';
import { withFrames } from '../../graph/flow-frames.js';
import { linksOf } from '../../graph/links.js';

/** Everything that is selected, as one step. */
export function removeSelection(store: EditorStore): void {
  const { selection } = store.getState();
  const links = linksOf(store.drawing, store.kinds).filter(({ id }) => selection.links.has(id));
  const nodes = withFrames(store.drawing, store.kinds, selection.nodes);
  const unlinked = links.length === 0 ? store.drawing : disconnect(store.drawing, store.kinds, links);
  store.change(removeNodes(unlinked, store.kinds, nodes), { select: [] });
}
