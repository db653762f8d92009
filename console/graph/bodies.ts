// Which nodes are in the body of which loop: what a loop's handle of its body leads to, as when the drawing runs.
import { nodesOf, startOf, typeOf, type Drawing } from './drawing.js';
import { linksOf } from './links.js';
import type { NodeKind, NodeKinds } from './node-kind.js';

export interface Bodies {
  /** By the id of a loop: the nodes that are directly in its body. Loops come before those in their bodies. */
  members: ReadonlyMap<string, readonly string[]>;
  /** By the id of a node: the loop in whose body it is directly. */
  loopOf: ReadonlyMap<string, string>;
}

export interface BodyLink {
  source: string;
  target: string;
  /** It leads from a loop into its body. */
  isIntoBody: boolean;
}

export const NO_BODIES: Bodies = { members: new Map(), loopOf: new Map() };

export function isBodyHandle(kind: NodeKind | undefined, handle: string | null): boolean {
  return kind?.handles.some(({ id, body }) => body === true && id === handle) === true;
}

interface Known {
  kinds: NodeKinds;
  bodies: Bodies;
}

const known = new WeakMap<Drawing, Known>();

/** The bodies of a drawing in the editor. Edges that do not run do not count. */
export function bodiesOf(drawing: Drawing, kinds: NodeKinds): Bodies {
  const last = known.get(drawing);
  if (last?.kinds === kinds) return last.bodies;
  const nodes = nodesOf(drawing);
  const links = linksOf(drawing, kinds)
    .filter(({ isIdle }) => !isIdle)
    .map(({ source, handle, target }) => ({
      source,
      target,
      isIntoBody: isBodyHandle(kinds.get(typeOf(nodes.get(source)!)), handle),
    }));
  const bodies = findBodies([...nodes.keys()], startOf(drawing), links);
  known.set(drawing, { kinds, bodies });
  return bodies;
}

/** What the start leads to is looked at first: a loose end that leads into a body does not take the body apart. */
export function findBodies(ids: readonly string[], start: string | undefined, links: readonly BodyLink[]): Bodies {
  if (!links.some(({ isIntoBody }) => isIntoBody)) return NO_BODIES;
  const [next, inside] = [new Map<string, string[]>(), new Map<string, string[]>()];
  for (const { source, target, isIntoBody } of links) append(isIntoBody ? inside : next, source, target);
  const targets = new Set(links.map(({ target }) => target));
  const beginnings = ids.filter((id) => !targets.has(id));
  const found = { members: new Map<string, string[]>(), loopOf: new Map<string, string>() };
  const seen = new Set<string>();
  for (const root of [...(start === undefined ? [] : [start]), ...beginnings, ...ids]) {
    const scopes: { loop: string | undefined; from: readonly string[] }[] = [{ loop: undefined, from: [root] }];
    // The list grows while it is iterated: a body may have loops of its own.
    for (const { loop, from } of scopes) {
      for (const id of reached(from, next, seen)) {
        if (loop !== undefined) {
          append(found.members, loop, id);
          found.loopOf.set(id, loop);
        }
        if (inside.has(id)) scopes.push({ loop: id, from: inside.get(id)! });
      }
    }
  }
  return found;
}

/** What was not seen before, in the order of the distance. */
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

/** The nodes in the body of a loop, and those in the bodies of the loops in it. */
export function allInside({ members }: Bodies, loop: string): string[] {
  const ids = [...(members.get(loop) ?? [])];
  // The list grows while it is iterated.
  for (const id of ids) ids.push(...(members.get(id) ?? []));
  return ids;
}

function append(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
