// Finds free places for the nodes that a translation adds to those of the file, so that none lies under another.

export interface Spot {
  x: number;
  y: number;
}

/** The size of a card on the canvas, including a gap. */
const CARD = { width: 280, height: 130 };

/** Cells of the size of a card, so that only the cells around a place are searched. */
class Places {
  readonly #cells = new Map<string, Spot[]>();

  add(spot: Spot): void {
    const cell = `${column(spot.x)} ${row(spot.y)}`;
    const known = this.#cells.get(cell);
    if (known === undefined) this.#cells.set(cell, [spot]);
    else known.push(spot);
  }

  isFree({ x, y }: Spot): boolean {
    for (const across of [-1, 0, 1]) {
      for (const down of [-1, 0, 1]) {
        const near = this.#cells.get(`${column(x) + across} ${row(y) + down}`) ?? [];
        if (near.some((other) => Math.abs(other.x - x) < CARD.width && Math.abs(other.y - y) < CARD.height))
          return false;
      }
    }
    return true;
  }
}

function column(x: number): number {
  return Math.floor(x / CARD.width);
}

function row(y: number): number {
  return Math.floor(y / CARD.height);
}

/** A card that is placed at `spot`, or at the nearest free place above or below it. */
export interface Added {
  id: string;
  spot: Spot;
}

/** Returns a free place for each added card: at its spot, or above or below it. */
export function spread(fixed: readonly Spot[], added: readonly Added[]): Map<string, Spot> {
  const places = new Places();
  for (const spot of fixed) places.add(spot);
  const found = new Map<string, Spot>();
  for (const { id, spot } of added) {
    const free = freeNear(places, spot);
    places.add(free);
    found.set(id, free);
  }
  return found;
}

function freeNear(places: Places, { x, y }: Spot): Spot {
  for (let step = 0; ; step += 1) {
    for (const down of [step, -step]) {
      const spot = { x, y: y + down * CARD.height };
      if (places.isFree(spot)) return spot;
    }
  }
}
