// The bodies of loops: the nodes that a run reaches through a loop's body handle. Editors draw a frame around each.
import { pushTo } from './push-to.js';

export interface Bodies {
  /** Ids of the nodes directly in a loop's body, by the loop's id. Outer loops come before inner ones. */
  members: ReadonlyMap<string, readonly string[]>;
  /** Id of the innermost loop around a node, by the node's id. */
  loopOf: ReadonlyMap<string, string>;
}

interface BodyLink {
  source: string;
  target: string;
  isIntoBody: boolean;
}

export const NO_BODIES: Bodies = { members: new Map(), loopOf: new Map() };

/**
 * Visits the nodes that the start reaches before all others, so that an unconnected node with a link into a body does
 * not claim the body's nodes.
 */
export function findBodies(ids: readonly string[], start: string | undefined, links: readonly BodyLink[]): Bodies {
  if (!links.some(({ isIntoBody }) => isIntoBody)) return NO_BODIES;
  const [next, inside] = [new Map<string, string[]>(), new Map<string, string[]>()];
  for (const { source, target, isIntoBody } of links) pushTo(isIntoBody ? inside : next, source, target);
  const targets = new Set(links.map(({ target }) => target));
  const beginnings = ids.filter((id) => !targets.has(id));
  const found = { members: new Map<string, string[]>(), loopOf: new Map<string, string>() };
  const seen = new Set<string>();
  for (const root of [...(start === undefined ? [] : [start]), ...beginnings, ...ids]) {
    const scopes: { loop: string | undefined; from: readonly string[] }[] = [{ loop: undefined, from: [root] }];
    // The list grows while it is iterated, because a body may contain loops.
    for (const { loop, from } of scopes) {
      for (const id of reached(from, next, seen)) {
        if (loop !== undefined) {
          pushTo(found.members, loop, id);
          found.loopOf.set(id, loop);
        }
        if (inside.has(id)) scopes.push({ loop: id, from: inside.get(id)! });
      }
    }
  }
  return found;
}

/** Returns the unseen nodes, nearest first. */
function reached(from: readonly string[], next: ReadonlyMap<string, readonly string[]>, seen: Set<string>): string[] {
  const ids: string[] = [];
  const see = (id: string): void => {
    if (seen.has(id)) return;
    seen.add(id);
    ids.push(id);
  };
  for (const id of from) see(id);
  for (const id of ids) for (const target of next.get(id) ?? []) see(target);
  return ids;
}

/** Returns the enclosing loops, innermost first. */
export function loopsAround({ loopOf }: Bodies, id: string): string[] {
  const loops: string[] = [];
  for (let loop = loopOf.get(id); loop !== undefined; loop = loopOf.get(loop)) loops.push(loop);
  return loops;
}

/** Padding between a frame and its content, and the height of the frame's title, in pixels. */
export const FRAME_PADDING = 24;
export const FRAME_TITLE = 32;
