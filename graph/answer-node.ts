// The node whose text is the answer of a chat (docs/use/conversations.md).
import { isObject, ownValue, type JsonObject } from './json.js';
import { traitsOf } from './kinds.js';
import { exitsOf } from './links.js';
import { enclosingLoops, leavesAtTimeout, rootPlan, type Handle, type Plan, type ScopePlan } from './plan.js';
import { spansOf } from './template.js';
import { parseVariable } from './variable.js';

/**
 * The limit on writers (model and agent nodes), on output nodes and on branching nodes, each, for finding the nodes
 * that are streamed by default, because its cost grows with the product of these numbers. In a larger drawing, only a
 * node that `answer_node` names is streamed.
 */
const MAX_PER_SORT = 100;

/**
 * Returns the ids of the nodes whose text is streamed while the model writes: the model or agent node outside bodies
 * that the drawing's `settings.answer_node` names, or else all model and agent nodes whose content is the run's output
 * whenever the node succeeds, so that only text that the run outputs is streamed. If there are several such nodes, each
 * is on a branch of its own, so a run executes at most one of them.
 */
export function answerNodesOf(drawing: JsonObject, plan: Plan): ReadonlySet<string> {
  const root = rootPlan(plan);
  const chosen = chosenNode(drawing);
  const isNamed = root.ids.some((id, node) => id === chosen && isWriter(root, node));
  return new Set(isNamed ? [chosen as string] : defaultAnswersOf(drawing, plan));
}

export function defaultAnswersOf(drawing: JsonObject, plan: Plan): string[] {
  const root = rootPlan(plan);
  const writers = root.ids.flatMap((_, node) => (isWriter(root, node) ? [node] : []));
  return byDefault(drawing, plan, root, writers).map((node) => root.ids[node]!);
}

/** Returns `settings.answer_node` of a drawing, unchecked, or undefined if it isn't set. */
export function chosenNode(drawing: unknown): unknown {
  const settings = isObject(drawing) ? ownValue(drawing, 'settings') : undefined;
  return (isObject(settings) ? ownValue(settings, 'answer_node') : undefined) ?? undefined;
}

/** Returns the ids of the nodes that may answer. */
export function writersOf(plan: Plan): unknown[] {
  const root = rootPlan(plan);
  return root.ids.filter((_, node) => isWriter(root, node));
}

function isWriter({ kinds }: ScopePlan, node: number): boolean {
  return kinds[node] === 'llm' || kinds[node] === 'agent';
}

function byDefault(drawing: JsonObject, plan: Plan, root: ScopePlan, writers: number[]): number[] {
  const data = dataOf(drawing);
  const outputs = outputsOf(plan, data);
  const branching = branchingOf(root, data);
  if ([writers.length, outputs.length, branching.size].some((count) => count > MAX_PER_SORT)) return [];
  const branches = branchesOf(root, branching);
  const mayMeet = (one: number, other: number): boolean => !isApart(branches[one]!, branches[other]!);
  return writers.filter((writer) => {
    if (outputs.length === 0) return isAlwaysLast(root, writer, mayMeet);
    const own = outputs.filter(({ of }) => of === root.ids[writer]);
    const others = outputs.filter(({ of }) => of !== root.ids[writer]);
    if (others.some(({ place }) => mayMeet(writer, place))) return false;
    const ends = new Set(own.flatMap(({ place, isInBody }) => (isInBody ? [] : [place])));
    return endsIn(ends, writer, root, data);
  });
}

/** Returns true if `writer` is always the last node, whose content is the output of a run without output nodes. */
function isAlwaysLast(root: ScopePlan, writer: number, mayMeet: (one: number, other: number) => boolean): boolean {
  if (root.out[writer]!.length > 0 || (root.joinsAny?.length ?? 0) > 0) return false;
  const before = ancestorsOf(root, writer);
  return root.ids.every((_, node) => node === writer || before.has(node) || !mayMeet(writer, node));
}

function ancestorsOf({ out }: ScopePlan, of: number): Set<number> {
  const incoming = out.map((): number[] => []);
  for (const [from, links] of out.entries()) for (const [to] of links) incoming[to]!.push(from);
  const found = new Set([of]);
  for (const node of found) for (const from of incoming[node]!) found.add(from);
  found.delete(of);
  return found;
}

type DataById = ReadonlyMap<unknown, JsonObject>;

function dataOf(drawing: JsonObject): DataById {
  const nodes = Array.isArray(drawing['nodes']) ? drawing['nodes'].filter(isObject) : [];
  const entries = nodes.map(({ id, data }): [unknown, JsonObject] => [id, isObject(data) ? data : {}]);
  // The first node counts if several have the same id.
  return new Map(entries.toReversed());
}

interface DrawnOutput {
  /** The number of the node, or of the outermost loop around it. */
  place: number;
  isInBody: boolean;
  /** The node whose content is the value. Undefined for any other value. */
  of: string | undefined;
}

function outputsOf(plan: Plan, data: DataById): DrawnOutput[] {
  const loops = enclosingLoops(plan);
  return plan.kinds.flatMap((kind, node) => {
    if (kind !== 'output') return [];
    const [outermost] = loops[node]!;
    const of = contentNodeOf(ownValue(data.get(plan.ids[node]), 'value'));
    return [{ place: outermost ?? node, isInBody: outermost !== undefined, of }];
  });
}

/** Returns the node of a text that is exactly `{{ NODE.result.content }}`. */
function contentNodeOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const span = spansOf(value).next().value;
  if (span?.start !== 0 || span.end !== value.length) return undefined;
  const variable = parseVariable(span.expression);
  const isContent = variable?.source === 'node' && variable.path.length === 1 && variable.path[0] === 'content';
  return isContent ? variable.nodeId : undefined;
}

/** True if a path from the writer reaches one of `ends`, whichever branches are taken. */
function endsIn(ends: ReadonlySet<number>, writer: number, root: ScopePlan, data: DataById): boolean {
  // No link leads backwards, so each node is judged after all its successors.
  const leads = new Map<number, boolean>();
  for (const node of inOrder(root).toReversed()) {
    const waysOut = node === writer ? [0] : handlesOf(root, node, data);
    const leadsBy = (handle: Handle): boolean =>
      root.out[node]!.some(([to, taken]) => taken === handle && leads.get(to) === true);
    leads.set(node, ends.has(node) || (waysOut.length > 0 && waysOut.every(leadsBy)));
  }
  return leads.get(writer) === true;
}

function handlesOf(root: ScopePlan, node: number, data: DataById): Handle[] {
  const kind = root.kinds[node]!;
  const { runs, timeoutCode } = traitsOf(kind);
  // The handle that leads into the body of a loop does not leave the loop.
  const handles = runs === 'body' ? [0] : exitsOf(kind, data.get(root.ids[node]) ?? {}).map(({ handle }) => handle);
  // Without a timeout link, a wait that times out fails the run.
  const failing = timeoutCode !== undefined && !leavesAtTimeout(root, node) ? 1 : undefined;
  const caught = root.caught?.[node];
  return [...handles.filter((handle) => handle !== failing), ...(caught === undefined ? [] : [caught])];
}

/** The branching nodes that decide if a node runs, each with the handle that must be taken. */
type Branches = ReadonlyMap<number, Handle>;

/** Returns the nodes that are left by exactly one of several handles. */
function branchingOf(root: ScopePlan, data: DataById): ReadonlySet<number> {
  const found = root.out.flatMap((links, node) => {
    const takesAll = root.kinds[node] === 'switch' && ownValue(data.get(root.ids[node]), 'mode') === 'all';
    return !takesAll && new Set(links.map(([, handle]) => handle)).size > 1 ? [node] : [];
  });
  return new Set(found);
}

function branchesOf(root: ScopePlan, branching: ReadonlySet<number>): Branches[] {
  const branches: (Branches | undefined)[] = root.ids.map(() => undefined);
  for (const from of inOrder(root)) {
    const above = (branches[from] ??= new Map());
    for (const [to, handle] of root.out[from]!) {
      const along: Branches = branching.has(from) ? new Map([...above, [from, handle]]) : above;
      const known = branches[to];
      branches[to] = known === undefined ? along : new Map([...known].filter(([node, by]) => along.get(node) === by));
    }
  }
  return branches.map((found) => found ?? new Map());
}

function isApart(one: Branches, other: Branches): boolean {
  return [...one].some(([node, handle]) => other.has(node) && other.get(node) !== handle);
}

/** Returns the nodes in topological order. */
function inOrder({ out }: ScopePlan): number[] {
  const open = out.map(() => 0);
  for (const links of out) for (const [to] of links) open[to]! += 1;
  const order = open.flatMap((count, node) => (count === 0 ? [node] : []));
  for (const node of order) for (const [to] of out[node]!) if ((open[to]! -= 1) === 0) order.push(to);
  return order;
}
