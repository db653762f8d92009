import { readDrawing, type Document, type DrawnNode, type StructuralError } from './document.js';
import { whatEveryNodeSays } from './nodes/every-node.js';
import { ERROR_HANDLE, type Handle, type Plan } from './plan.js';

export type CompiledPlan = { ok: true; document: Document; plan: Plan } | { ok: false; errors: StructuralError[] };

const LABEL_CHARACTERS = 60;
const CYCLE_NODES_SHOWN = 10;

/**
 * Turns the `data` of a workflow into the plan that a run executes. Never throws, and reports all structural errors at
 * once (Specification, "Running workflows"). Time and memory grow linearly with the drawing.
 */
export function compilePlan(data: unknown): CompiledPlan {
  const { document, errors } = readDrawing(data);
  const nodes = new Map(document.nodes.map((node) => [node.id, node]));
  const cycle = findCycle(nodes);
  if (cycle) errors.push(toCycleError(cycle));
  if (errors.length > 0) return { ok: false, errors };
  return { ok: true, document, plan: toPlan(nodes, document.startNode) };
}

/**
 * Visits nodes breadth first from the start, and links in their order, so that a drawing always gets the same node
 * numbers.
 */
function toPlan(nodes: ReadonlyMap<string, DrawnNode>, startNode: string): Plan {
  const plan: Plan = { ids: [], kinds: [], labels: [], out: [], indegree: [] };
  const numbers = new Map<string, number>();
  const numberOf = (id: string): number => {
    const known = numbers.get(id);
    if (known !== undefined) return known;
    numbers.set(id, plan.ids.length);
    plan.indegree.push(0);
    return plan.ids.push(id) - 1;
  };
  numberOf(startNode);
  // The list grows while it is iterated: every new node is appended to it.
  for (const id of plan.ids) {
    const node = nodes.get(id);
    if (!node) continue;
    plan.kinds.push(node.kind);
    plan.labels.push(toPlanLabel(node.label) || node.kind);
    const links = node.links.map(({ to, handle }): [number, Handle] => [numberOf(to), handle]);
    for (const [to] of links) plan.indegree[to] = (plan.indegree[to] ?? 0) + 1;
    const number = plan.out.push(links) - 1;
    const { onError, joinsAny } = whatEveryNodeSays(node.data);
    if (onError !== 'fail') (plan.caught ??= {})[number] = onError === 'branch' ? ERROR_HANDLE : 0;
    if (joinsAny) (plan.joinsAny ??= []).push(number);
  }
  return plan;
}

function toPlanLabel(label: string): string {
  // A character has at most two code units, so a label of megabytes is cut before it is split into characters.
  const printable = label
    .replace(/\p{Cc}/gu, '')
    .replace(/\p{Cs}/gu, '\uFFFD')
    .trim();
  return Array.from(printable.slice(0, 2 * LABEL_CHARACTERS))
    .slice(0, LABEL_CHARACTERS)
    .join('');
}

/** Returns the nodes of one cycle in their order, if the drawing has any. */
function findCycle(nodes: ReadonlyMap<string, DrawnNode>): DrawnNode[] | undefined {
  const successors = new Map(
    [...nodes].map(([id, node]) => [id, node.links.map(({ to }) => to).filter((to) => nodes.has(to))]),
  );
  const afterwards = peel(successors);
  if (afterwards.size === 0) return undefined;
  // Kahn's algorithm leaves the cycles and all nodes after them. Applied to the reversed edges too, it leaves only
  // nodes with a remaining successor. Following successors must therefore reach a visited node.
  const predecessors = new Map([...afterwards].map((id): [string, string[]] => [id, []]));
  for (const id of afterwards) for (const to of successors.get(id) ?? []) predecessors.get(to)?.push(id);
  const core = peel(predecessors);
  const walked = new Map<string, number>();
  let id = core.values().next().value;
  while (id !== undefined && !walked.has(id)) {
    walked.set(id, walked.size);
    id = successors.get(id)?.find((to) => core.has(to));
  }
  const start = walked.get(id ?? '') ?? 0;
  return [...walked.keys()].slice(start).flatMap((member) => nodes.get(member) ?? []);
}

/** Kahn's algorithm: removes nodes without incoming edges, and returns those that cannot be removed. */
function peel(successors: ReadonlyMap<string, readonly string[]>): Set<string> {
  const indegree = new Map([...successors.keys()].map((id) => [id, 0]));
  for (const targets of successors.values()) {
    for (const to of targets) indegree.set(to, (indegree.get(to) ?? 0) + 1);
  }
  const free = [...indegree].filter(([, count]) => count === 0).map(([id]) => id);
  for (const id of free) {
    indegree.delete(id);
    for (const to of successors.get(id) ?? []) {
      const left = (indegree.get(to) ?? 0) - 1;
      indegree.set(to, left);
      if (left === 0) free.push(to);
    }
  }
  return new Set(indegree.keys());
}

function toCycleError(cycle: readonly DrawnNode[]): StructuralError {
  const shown = cycle.slice(0, CYCLE_NODES_SHOWN).map(({ label }) => `"${toPlanLabel(label)}"`);
  if (cycle.length > shown.length) shown.push('...');
  const [first] = cycle;
  const error = { code: 'cycle', message: `The workflow has a cycle: ${[...shown, shown[0]].join(' -> ')}.` };
  return first ? { ...error, node_id: first.id } : error;
}
