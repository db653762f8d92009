// Finds the loops of a file. A loop of n8n is a cycle of connections through a node of `LOOP_TYPE`. It becomes a node
// with a body. Every other cycle is cut.
import { groupBy, LOOP_TYPE, type N8nLink, type N8nNode } from './n8n-file.js';

interface FoundLoop {
  body: ReadonlySet<N8nNode>;
  /** The connections by which the body leads back. */
  back: readonly N8nLink[];
}

export interface Loops {
  /** The loops, by the node that divides the items. */
  loops: ReadonlyMap<N8nNode, FoundLoop>;
  /** Nodes that divide items but cannot become loops, with the reason. */
  refused: ReadonlyMap<N8nNode, string>;
  links: readonly N8nLink[];
  /** The connections that were cut because they close a cycle that is none of `loops`. */
  cut: readonly N8nLink[];
  /** The nodes in topological order. */
  inOrder: readonly N8nNode[];
}

/**
 * A plan has at most five levels of nested bodies (`MAX_DEPTH`), of which one is left for nodes that become a for-each.
 * In the innermost of four loops, a node that needs two levels is left out.
 */
const MAX_LOOPS_AROUND = 4;

type Outgoing = ReadonlyMap<N8nNode, readonly N8nLink[]>;

/** The outputs of a node that divides items into batches: for each batch, and at the end. */
export function loopOutputs(node: N8nNode): { each: number; done: number } {
  return node.version >= 3 ? { each: 1, done: 0 } : { each: 0, done: 1 };
}

export function findLoops(nodes: readonly N8nNode[], links: readonly N8nLink[]): Loops {
  const outgoing = groupBy(links, ({ from }) => from);
  const incoming = groupBy(links, ({ to }) => to);
  const loops = new Map<N8nNode, FoundLoop>();
  const refused = new Map<N8nNode, string>();
  for (const node of nodes) {
    if (node.type !== LOOP_TYPE || node.isDisabled) continue;
    const found = loops.size < MAX_FOUND ? findLoop(node, outgoing, incoming) : 'the file has too many loops';
    if (typeof found === 'string') refused.set(node, found);
    else loops.set(node, found);
  }
  refuseDeep(loops, refused);
  const back = new Set([...loops.values()].flatMap((loop) => loop.back));
  const forward = links.filter((link) => !back.has(link));
  const { cut, inOrder } = cutCycles(nodes, forward);
  const left = forward.filter((link) => !cut.has(link));
  return { loops, refused, links: left, cut: [...cut], inOrder };
}

/** A limit, because each search for a body reads the whole file. */
const MAX_FOUND = 100;

function findLoop(node: N8nNode, outgoing: Outgoing, incoming: Outgoing): FoundLoop | string {
  if (node.version < 2) return 'its version 1 has one output for the items and for the end';
  const { each } = loopOutputs(node);
  const entries = (outgoing.get(node) ?? []).filter(({ output }) => output === each).map(({ to }) => to);
  if (entries.length === 0) return 'nothing follows its output for the items';
  const body = reach(entries, outgoing, node);
  const into = [...body].flatMap((member) => incoming.get(member) ?? []);
  if (into.some(({ from, output }) => (from === node ? output !== each : !body.has(from)))) {
    return 'other nodes lead into the nodes of its loop';
  }
  const back = [...body].flatMap((member) => (outgoing.get(member) ?? []).filter(({ to }) => to === node));
  if (back.length === 0) return 'nothing leads back to it';
  return { body, back };
}

/**
 * Refuses bodies inside too many other bodies. Bodies are nested or separate, because nothing leads into one from
 * outside.
 */
function refuseDeep(loops: Map<N8nNode, FoundLoop>, refused: Map<N8nNode, string>): void {
  for (const node of loops.keys()) {
    const around = [...loops].filter(([other, { body }]) => other !== node && body.has(node)).length;
    if (around < MAX_LOOPS_AROUND) continue;
    loops.delete(node);
    refused.set(node, 'it is nested too deeply');
  }
}

/** Returns the nodes that can be reached from `from` without passing through `border`. */
function reach(from: readonly N8nNode[], outgoing: Outgoing, border?: N8nNode): Set<N8nNode> {
  const met = new Set(from.filter((node) => node !== border));
  for (const node of met) {
    for (const { to } of outgoing.get(node) ?? []) if (to !== border) met.add(to);
  }
  return met;
}

/** Cuts the links that close a cycle, and sorts the nodes by Kahn's algorithm. */
function cutCycles(nodes: readonly N8nNode[], links: readonly N8nLink[]): { cut: Set<N8nLink>; inOrder: N8nNode[] } {
  const outgoing = groupBy(links, ({ from }) => from);
  const entered = new Set(links.map(({ to }) => to));
  const starts = nodes.filter((node) => !entered.has(node));
  const cut = linksBack([...starts, ...nodes], outgoing);
  const left = links.filter((link) => !cut.has(link));
  const incoming = groupBy(left, ({ to }) => to);
  const open = new Map(nodes.map((node) => [node, (incoming.get(node) ?? []).length]));
  // The list grows while it is iterated.
  const inOrder = nodes.filter((node) => open.get(node) === 0);
  for (const node of inOrder) {
    for (const link of outgoing.get(node) ?? []) {
      if (cut.has(link)) continue;
      const count = open.get(link.to)! - 1;
      open.set(link.to, count);
      if (count === 0) inOrder.push(link.to);
    }
  }
  return { cut, inOrder };
}

/**
 * Returns the links that lead back to a node on the path of a depth-first search. Without these links, no cycle is
 * left. The search begins where a run begins, so that a cycle is cut before the node by which the run enters the cycle.
 */
function linksBack(starts: readonly N8nNode[], outgoing: Outgoing): Set<N8nLink> {
  const back = new Set<N8nLink>();
  const met = new Set<N8nNode>();
  const onPath = new Set<N8nNode>();
  // A list instead of recursion, because a path may be as long as the file.
  const path: { node: N8nNode; links: Iterator<N8nLink, undefined> }[] = [];
  const enter = (node: N8nNode): void => {
    if (met.has(node)) return;
    met.add(node);
    onPath.add(node);
    path.push({ node, links: (outgoing.get(node) ?? []).values() });
  };
  for (const start of starts) {
    enter(start);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const link = last.links.next().value;
      if (link === undefined) {
        onPath.delete(last.node);
        path.pop();
      } else if (onPath.has(link.to)) back.add(link);
      else enter(link.to);
    }
  }
  return back;
}

/** True if the node is in a body that doesn't contain the reader. */
export function isHidden({ loops }: Loops, node: N8nNode, reader: N8nNode): boolean {
  return [...loops.values()].some(({ body }) => body.has(node) && !body.has(reader));
}
