// Makes and removes links. What runs is in the node's data; the drawn edges are kept in step with it.
import { dataOf, nodesOf, typeOf, type Drawing } from './drawing.js';
import { exitsOf, withTargets, type Exit } from './exits.js';
import { asArray, isObject, type JsonObject } from './json.js';
import { exitOfEdge, linksOf, reaches, type Link } from './links.js';
import { newId } from './new-id.js';
import type { NodeKinds } from './node-kind.js';
import { replaceNode } from './replace-node.js';

export interface NewLink {
  source: string;
  handle: string | null;
  target: string;
}

/** Not to itself, not twice, not in a circle, and only by a handle that the node has. */
export function mayConnect(drawing: Drawing, kinds: NodeKinds, { source, handle, target }: NewLink): boolean {
  const [from, to] = [nodesOf(drawing).get(source), nodesOf(drawing).get(target)];
  if (from === undefined || to === undefined || source === target) return false;
  const exits = exitsOf(kinds.get(typeOf(from)), dataOf(from));
  if (!exits.some((exit) => exit.handle === handle)) return false;
  const links = linksOf(drawing, kinds);
  const isThere = links.some(
    (link) => !link.isIdle && link.source === source && link.handle === handle && link.target === target,
  );
  return !isThere && !reaches(links, target, source);
}

/** The same drawing where the link is not possible. */
export function connect(drawing: Drawing, kinds: NodeKinds, link: NewLink): Drawing {
  if (!mayConnect(drawing, kinds, link)) return drawing;
  const { source, handle, target } = link;
  const targets = runningTargets(linksOf(drawing, kinds), link);
  const linked = setTargets(drawing, kinds, source, handle, [...targets, target]);
  const isDrawn = asArray(drawing['edges']).some(
    (edge) => isObject(edge) && edge['source'] === source && edge['target'] === target && isOf(edge, handle),
  );
  if (isDrawn) return linked;
  const edge: JsonObject = {
    id: newId(),
    source,
    target,
    ...(handle !== null && { sourceHandle: handle }),
  };
  return { ...linked, edges: [...asArray(drawing['edges']), edge] };
}

/** Without these links, and without the edges that draw them. */
export function disconnect(drawing: Drawing, kinds: NodeKinds, links: readonly Link[]): Drawing {
  const gone = new Set(links.map(({ id }) => id));
  let changed = drawing;
  for (const [source, handle] of exitsThatLose(links)) {
    const left = linksOf(drawing, kinds).filter(
      (link) => link.source === source && link.handle === handle && !link.isIdle && !gone.has(link.id),
    );
    changed = setTargets(
      changed,
      kinds,
      source,
      handle,
      left.map(({ target }) => target),
    );
  }
  return withoutEdges(changed, kinds, links);
}

/** The exits whose running links change; an idle link is only an edge. */
function exitsThatLose(links: readonly Link[]): (readonly [string, string | null])[] {
  const exits = links.filter(({ isIdle }) => !isIdle).map(({ source, handle }) => [source, handle] as const);
  return [...new Map(exits.map((exit) => [JSON.stringify(exit), exit])).values()];
}

function withoutEdges(drawing: Drawing, kinds: NodeKinds, links: readonly Link[]): Drawing {
  const edges = asArray(drawing['edges']);
  const nodes = nodesOf(drawing);
  const left = edges.filter((edge) => {
    if (!isObject(edge)) return true;
    return !links.some(({ source, handle, target }) => {
      if (edge['source'] !== source || edge['target'] !== target) return false;
      const node = nodes.get(source);
      const exit = node && exitOfEdge(edge, exitsOf(kinds.get(typeOf(node)), dataOf(node)));
      return exit === undefined ? isOf(edge, handle) : exit.handle === handle;
    });
  });
  return left.length === edges.length ? drawing : { ...drawing, edges: left };
}

function isOf(edge: JsonObject, handle: string | null): boolean {
  return handle === null || edge['sourceHandle'] === handle;
}

function runningTargets(links: readonly Link[], { source, handle }: NewLink): string[] {
  return links.flatMap((link) =>
    link.source === source && link.handle === handle && !link.isIdle ? [link.target] : [],
  );
}

function setTargets(
  drawing: Drawing,
  kinds: NodeKinds,
  source: string,
  handle: string | null,
  targets: readonly string[],
): Drawing {
  return replaceNode(drawing, source, (node) => {
    const exits: readonly Exit[] = exitsOf(kinds.get(typeOf(node)), dataOf(node));
    const exit = exits.find((each) => each.handle === handle);
    return exit === undefined ? node : { ...node, data: withTargets(dataOf(node), exit, targets) };
  });
}
