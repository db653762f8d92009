export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Placed {
  position: { x: number; y: number };
  width?: number | undefined;
  height?: number | undefined;
}

/** What the nodes take up together. */
export function boundsOf(nodes: readonly Placed[]): Rect {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { position, width = 0, height = 0 } of nodes) {
    left = Math.min(left, position.x);
    top = Math.min(top, position.y);
    right = Math.max(right, position.x + width);
    bottom = Math.max(bottom, position.y + height);
  }
  return nodes.length === 0
    ? { x: 0, y: 0, width: 1, height: 1 }
    : { x: left, y: top, width: right - left, height: bottom - top };
}

const MARGIN = 8;

/** How to draw `bounds` in the middle of a picture: scaled, then moved by `x` and `y`. */
export function fitInto(bounds: Rect, size: { width: number; height: number }) {
  const [width, height] = [size.width - 2 * MARGIN, size.height - 2 * MARGIN];
  const scale = Math.min(width / Math.max(bounds.width, 1), height / Math.max(bounds.height, 1), 0.1);
  return {
    scale,
    x: (size.width - bounds.width * scale) / 2 - bounds.x * scale,
    y: (size.height - bounds.height * scale) / 2 - bounds.y * scale,
  };
}
