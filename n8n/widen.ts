// Makes columns for the nodes that a translation adds before or behind those of the file, so that links lead to the
// right.

interface Spot {
  x: number;
  y: number;
}

interface Placed {
  id: string;
  spot: Spot;
}

/** A node of the file, with the nodes that were added for it. */
interface Group {
  owner: Placed;
  added: readonly string[];
}

const COLUMN = 290;

/**
 * Returns the positions of all nodes of the groups, and a function that moves a position to the right by the columns
 * that were made left of it. `targetsOf` returns the nodes to which a node has links.
 */
export function widen(
  groups: readonly Group[],
  targetsOf: (id: string) => readonly string[],
): { spots: Map<string, Spot>; moved: (spot: Spot) => Spot } {
  const columns = new Map<string, number>();
  /** The number of columns made at each x position. Groups at the same x position share them. */
  const made = new Map<number, number>();
  for (const { owner, added } of groups) {
    const most = numberColumns([owner.id, ...added], targetsOf, columns);
    made.set(owner.spot.x, Math.max(made.get(owner.spot.x) ?? 0, most));
  }
  const moved = ({ x, y }: Spot): Spot => {
    let before = 0;
    for (const [place, count] of made) if (place < x) before += count;
    return { x: x + before * COLUMN, y };
  };
  const spots = new Map<string, Spot>();
  for (const { owner, added } of groups) {
    const { x, y } = moved(owner.spot);
    for (const id of [owner.id, ...added]) spots.set(id, { x: x + columns.get(id)! * COLUMN, y });
  }
  return { spots, moved };
}

/** Numbers the nodes of a group from 0, by the length of the longest path to each. Returns the highest number. */
function numberColumns(
  ids: readonly string[],
  targetsOf: (id: string) => readonly string[],
  columns: Map<string, number>,
): number {
  const members = new Set(ids);
  for (const id of ids) columns.set(id, 0);
  // A path through the group has fewer links than the group has nodes. The limit also ends the search in a cycle.
  for (let round = 1, isOpen = true; isOpen && round < ids.length; round += 1) {
    isOpen = false;
    for (const id of ids) {
      for (const target of targetsOf(id)) {
        const column = columns.get(id)! + 1;
        if (members.has(target) && column > columns.get(target)! && column < ids.length) {
          columns.set(target, column);
          isOpen = true;
        }
      }
    }
  }
  return Math.max(...ids.map((id) => columns.get(id)!));
}
