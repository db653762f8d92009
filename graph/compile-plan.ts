// Compiles a drawing to the plan that a run executes, and reports its structural errors.
import { readDrawing, type Document, type DrawnNode, type StructuralError } from './document.js';
import { encodeId } from './iteration-path.js';
import { commonSettingsOf } from './nodes/every-node.js';
import { placementOf } from './nodes/placement.js';
import { traitsOf } from './kinds.js';
import { BODY_HANDLE, ERROR_HANDLE, MAX_DEPTH, type Handle, type Plan } from './plan.js';

type CompiledPlan = { ok: true; document: Document; plan: Plan } | { ok: false; errors: StructuralError[] };

const LABEL_CHARACTERS = 60;
const CYCLE_NODES_SHOWN = 10;

/**
 * Compiles the `data` of a workflow. Never throws. Reports structural errors together, but those of loops only if there
 * are no others, and that of the plan's size last. Time and memory are linear in the drawing.
 */
export function compilePlan(data: unknown): CompiledPlan {
  const { document, errors } = readDrawing(data);
  const nodes = new Map(document.nodes.map((node) => [node.id, node]));
  const cycle = findCycle(nodes);
  if (cycle) errors.push(toCycleError(cycle));
  if (errors.length > 0) return { ok: false, errors };
  const { plan, errors: scopeErrors } = new PlanBuilder(nodes).build(document.startNode);
  if (scopeErrors.length > 0) return { ok: false, errors: scopeErrors };
  const bytes = new TextEncoder().encode(JSON.stringify(plan)).length;
  if (bytes <= MAX_PLAN_BYTES) return { ok: true, document, plan };
  const message = `The ids, labels and links of the workflow have ${bytes} bytes together; at most ${MAX_PLAN_BYTES} can run.`;
  return { ok: false, errors: [{ code: 'plan_too_large', message }] };
}

/** Temporal refuses to start a workflow with arguments of 2 MiB or more. Encryption adds a few bytes to the plan. */
const MAX_PLAN_BYTES = 1_500_000;

/** The limit on an iteration's path in UTF-8: database indexes hold the path together with the id of a node. */
const MAX_PATH_BYTES = 1_600;

/**
 * Returns the most bytes that an iteration of the loop adds to a path: delimiters, encoded id, and an index below
 * 10,000.
 */
function longestPath(loopId: string): number {
  return new TextEncoder().encode(`/${encodeId(loopId)}[9999]`).length;
}

/** A bound for hostile drawings; nobody reads more errors. */
const MAX_SCOPE_ERRORS = 1000;

/**
 * Numbers the nodes that the start reaches, one scope after the other: first the drawing outside bodies, then the body
 * of each loop. Within a scope it proceeds breadth-first and by links in their order, so the same drawing always gets
 * the same numbers.
 */
class PlanBuilder {
  readonly #nodes: ReadonlyMap<string, DrawnNode>;
  readonly #plan: Plan = { ids: [], kinds: [], labels: [], out: [], indegree: [] };
  readonly #numbers = new Map<string, number>();
  /** The number of the loop whose body contains the node, or -1, by node. */
  readonly #scopes: number[] = [];
  readonly #errors: StructuralError[] = [];

  constructor(nodes: ReadonlyMap<string, DrawnNode>) {
    this.#nodes = nodes;
  }

  build(startNode: string): { plan: Plan; errors: StructuralError[] } {
    const loops: Loop[] = [];
    this.#fill({ number: -1, depth: 0, pathBytes: 0 }, [startNode], loops);
    // The list grows while it is iterated, because a body may contain loops.
    for (const loop of loops) {
      const first = this.#plan.ids.length;
      this.#fill(loop, this.#bodyTargets(loop.number), loops);
      (this.#plan.bodies ??= {})[loop.number] = { first, end: this.#plan.ids.length };
    }
    this.#connect();
    return { plan: this.#plan, errors: this.#errors };
  }

  /** Numbers the scope's nodes, and appends its loops to `loops`. */
  #fill(scope: Loop, targets: readonly string[], loops: Loop[]): void {
    const { ids, kinds, labels } = this.#plan;
    const from = ids.length;
    for (const target of targets) this.#number(target, scope.number);
    for (let number = from; number < ids.length; number++) {
      const node = this.#nodes.get(ids[number]!);
      if (node === undefined) continue;
      kinds[number] = node.kind;
      labels[number] = toPlanLabel(node.label) || node.kind;
      for (const { to, handle } of node.links) if (!isIntoBody(node, handle)) this.#number(to, scope.number);
      if (traitsOf(node.kind).runs !== 'body') continue;
      if (scope.depth === MAX_DEPTH) {
        const message = `The loop is nested deeper than ${MAX_DEPTH} loops.`;
        this.#addError({ code: 'too_deep', message, node_id: node.id });
        continue;
      }
      const pathBytes = scope.pathBytes + longestPath(node.id);
      if (pathBytes > MAX_PATH_BYTES) {
        const message = `The ids of the loop and of those around it have more than ${MAX_PATH_BYTES} bytes together.`;
        this.#addError({ code: 'invalid_node_id', message, node_id: node.id });
      } else loops.push({ number, depth: scope.depth + 1, pathBytes });
    }
  }

  #number(id: string, scope: number): void {
    if (this.#numbers.has(id)) return;
    this.#numbers.set(id, this.#plan.ids.push(id) - 1);
    this.#plan.out.push([]);
    this.#plan.indegree.push(0);
    this.#scopes.push(scope);
  }

  #bodyTargets(loop: number): string[] {
    const node = this.#nodes.get(this.#plan.ids[loop]!);
    return node?.links.flatMap(({ to, handle }) => (isIntoBody(node, handle) ? [to] : [])) ?? [];
  }

  /**
   * Adds the links and the settings of the nodes to the plan, and reports links that lead into a body from outside, or
   * out of it.
   */
  #connect(): void {
    const { ids, out, indegree } = this.#plan;
    for (const [number, id] of ids.entries()) {
      const node = this.#nodes.get(id);
      if (node === undefined) continue;
      for (const { to, handle } of node.links) {
        const target = this.#numbers.get(to);
        // The nodes in the body of a loop have no number if the loop is nested too deeply or its path is too long.
        if (target === undefined) continue;
        const scope = isIntoBody(node, handle) ? number : this.#scopes[number]!;
        if (this.#scopes[target] !== scope) this.#addLeak(node, this.#nodes.get(to)!);
        out[number]!.push([target, handle]);
        indegree[target]!++;
      }
      const { onError, joinsAny } = commonSettingsOf(node.data);
      if (onError !== 'fail') (this.#plan.caught ??= {})[number] = onError === 'branch' ? ERROR_HANDLE : 0;
      if (joinsAny) (this.#plan.joinsAny ??= []).push(number);
      const { pool, takeWithin } = placementOf(node);
      if (pool !== undefined) (this.#plan.pools ??= {})[number] = pool;
      if (takeWithin !== undefined) (this.#plan.takeWithin ??= {})[number] = takeWithin;
    }
  }

  #addLeak(from: DrawnNode, to: DrawnNode): void {
    const names = [from, to].map(({ label }) => `"${toPlanLabel(label)}"`).join(' to ');
    const message = `The link from ${names} crosses the border of a loop's body: only the loop leads into its body, and nothing in it leads out.`;
    this.#addError({ code: 'scope_leak', message, node_id: from.id });
  }

  #addError(error: StructuralError): void {
    if (this.#errors.length < MAX_SCOPE_ERRORS) this.#errors.push(error);
  }
}

/** A scope that is being numbered: a loop's body, by the loop's number, or the drawing outside bodies. */
interface Loop {
  number: number;
  depth: number;
  /** The length in bytes of the longest path of an iteration of the loop. */
  pathBytes: number;
}

function isIntoBody({ kind }: DrawnNode, handle: Handle): boolean {
  return handle === BODY_HANDLE && traitsOf(kind).runs === 'body';
}

function toPlanLabel(label: string): string {
  // A character has at most two code units, so cut a label of megabytes before splitting it into characters.
  const printable = label
    .replace(/\p{Cc}/gu, '')
    .replace(/\p{Cs}/gu, '\uFFFD')
    .trim();
  return Array.from(printable.slice(0, 2 * LABEL_CHARACTERS))
    .slice(0, LABEL_CHARACTERS)
    .join('');
}

/** Returns the nodes of one cycle in order, if the drawing has any. */
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
