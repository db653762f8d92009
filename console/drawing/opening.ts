import type { Viewport } from '@xyflow/react';
import { boundsOf, type Placed, type Rect } from './bodies.js';

/** Smallest zoom at which text is legible; no view opens with a smaller one. */
const READABLE = 0.6;
const PADDING = 32;

interface Sized {
  width: number;
  height: number;
}

export type StandingNode = Placed & { id: string };

/**
 * Returns the initial view of a canvas of this size: all nodes if that needs no zoom below `READABLE`, else as many as
 * fit together with the node `first`. Leaves the right `reserved` pixels free for the panel of a chosen node if all
 * nodes still fit into the rest of the width.
 */
export function openingView(
  nodes: readonly StandingNode[],
  first: string | undefined,
  size: Sized,
  reserved = 0,
): Viewport {
  const bounds = boundsOf(nodes);
  const anchor = boundsOf([nodes.find(({ id }) => id === first) ?? nodes[0]!]);
  const isReserved = (size.width - reserved - 2 * PADDING) / bounds.width >= READABLE;
  const { width, height } = { ...size, width: size.width - (isReserved ? reserved : 0) };
  const fitting = Math.min((width - 2 * PADDING) / bounds.width, (height - 2 * PADDING) / bounds.height, 1);
  const zoom = Math.max(fitting, READABLE);
  const along = (start: number, length: number, middle: number, room: number): number => {
    if (length * zoom <= room - 2 * PADDING) return room / 2 - (start + length / 2) * zoom;
    const [least, most] = [room - PADDING - (start + length) * zoom, PADDING - start * zoom];
    return Math.min(Math.max(room / 2 - middle * zoom, least), most);
  };
  return {
    zoom,
    x: along(bounds.x, bounds.width, anchor.x + anchor.width / 2, width),
    y: along(bounds.y, bounds.height, anchor.y + anchor.height / 2, height),
  };
}

/** Leaves room for the button beside an exit. */
const MARGIN = 48;

/**
 * Returns the view moved until the box is at least `MARGIN` from the edges of a canvas of this size. Returns `view`
 * itself if the whole box is visible.
 */
export function moveIntoView(view: Viewport, box: Rect, size: Sized): Viewport {
  const { zoom } = view;
  const isInside = (from: number, start: number, length: number, room: number): boolean =>
    from + start * zoom >= 0 && from + (start + length) * zoom <= room;
  if (isInside(view.x, box.x, box.width, size.width) && isInside(view.y, box.y, box.height, size.height)) return view;
  const along = (from: number, start: number, length: number, room: number): number => {
    const [least, most] = [MARGIN - start * zoom, room - MARGIN - (start + length) * zoom];
    // If the box is larger than the canvas, its left or top edge is shown.
    return most < least ? least : Math.min(Math.max(from, least), most);
  };
  return {
    zoom,
    x: along(view.x, box.x, box.width, size.width),
    y: along(view.y, box.y, box.height, size.height),
  };
}
