// What happens while links are drawn. Made once for a canvas, like the other handlers (flow-handlers.ts).
import type { FinalConnectionState } from '@xyflow/react';
import { connect, mayConnect, type NewLink } from './change-links.js';
import type { EditorStore } from './editor-store.js';

/** A link that was dropped on empty ground. */
export interface DroppedLink {
  source: string;
  handle: string | null;
  /** In the window. */
  at: { x: number; y: number };
}

interface DrawnLink {
  source: string;
  target: string;
  sourceHandle?: string | null | undefined;
}

export interface LinkHandlers {
  onConnect: (link: DrawnLink) => void;
  isValidConnection: (link: DrawnLink) => boolean;
  onConnectEnd: (event: MouseEvent | TouchEvent, state: FinalConnectionState) => void;
}

export function createLinkHandlers(store: EditorStore, onDropped: (link: DroppedLink) => void): LinkHandlers {
  return {
    onConnect: (link) => store.change(connect(store.drawing, store.kinds, toLink(link))),
    isValidConnection: (link) => mayConnect(store.drawing, store.kinds, toLink(link)),
    onConnectEnd(event, { fromNode, fromHandle, toNode }) {
      if (toNode !== null || fromNode === null || fromHandle?.type !== 'source') return;
      const point = 'changedTouches' in event ? event.changedTouches[0] : event;
      if (point === undefined) return;
      const at = { x: point.clientX, y: point.clientY };
      onDropped({ source: fromNode.id, handle: fromHandle.id ?? null, at });
    },
  };
}

function toLink({ source, target, sourceHandle }: DrawnLink): NewLink {
  return { source, target, handle: sourceHandle ?? null };
}
