// The plan of a test run, which executes a part of the drawing and reuses the results of other nodes
// (docs/use/test-runs.md, "Which nodes are executed").
import { BODY_HANDLE, enclosingLoops, rootPlan, type Handle, type Plan } from './plan.js';

/** `node`: only the node; `up_to`: the node and those it needs; `from`: the node and those that follow it. */
export type TestMode = 'node' | 'up_to' | 'from';

export interface TestRequest {
  mode: TestMode;
  /** The number of the tested node. If it is in a body, the test executes one iteration of each enclosing loop. */
  node: number;
  /** True if a mock or a pin fixes the result of the node. */
  isFixed: (node: number) => boolean;
  /** Returns the numbers of the nodes whose results or errors the node's variables name. */
  readsOf: (node: number) => readonly number[];
}

/** The part of a test in one scope: the drawing outside bodies, or the body of a loop that encloses the tested node. */
export interface TestScope {
  /** The loop whose body this is. Undefined outside bodies. */
  loop: number | undefined;
  /** The tested node, or the loop of this scope that encloses it. */
  target: number;
  /** The executed nodes, including those with fixed results. A loop also stands for the nodes of its body. */
  executed: ReadonlySet<number>;
  /**
   * Other nodes that decide about executed nodes by a link or a variable. Their results are reused if there are any.
   */
  wanted: ReadonlySet<number>;
  /** The wanted nodes whose results or errors an executed node reads. */
  needed: ReadonlySet<number>;
}

/** Decides which nodes a test executes and which results it reuses. Returns its scopes, outermost first. */
export function chooseTest(plan: Plan, request: TestRequest): TestScope[] {
  const around = enclosingLoops(plan);
  const chain = [...around[request.node]!, request.node];
  const scopes: TestScope[] = [];
  // The nodes of outer scopes whose results or errors inner scopes read.
  let reads: number[] = [];
  for (const [depth, target] of [...chain.entries()].toReversed()) {
    const members = new Members(plan, around, chain[depth - 1]);
    const isInnermost = target === request.node;
    const choice = chooseInScope(members, request, { target, isInnermost, readInside: reads });
    reads = choice.reads;
    scopes.unshift({ ...choice.scope, loop: chain[depth - 1] });
  }
  return scopes;
}

class Members {
  readonly #plan: Plan;
  readonly #around: readonly number[][];
  readonly #loop: number | undefined;
  readonly #first: number;
  readonly #end: number;
  readonly #sources = new Map<number, number[]>();

  constructor(plan: Plan, around: readonly number[][], loop: number | undefined) {
    const body = loop === undefined ? undefined : plan.bodies?.[loop];
    this.#plan = plan;
    this.#around = around;
    this.#loop = loop;
    this.#first = body?.first ?? 0;
    this.#end = body?.end ?? rootPlan(plan).ids.length;
    for (let node = this.#first; node < this.#end; node++) {
      for (const to of this.targetsOf(node)) {
        const sources = this.#sources.get(to);
        if (sources === undefined) this.#sources.set(to, [node]);
        else sources.push(node);
      }
    }
  }

  targetsOf(node: number): number[] {
    return this.#plan.out[node]!.flatMap(([to]) => (this.#has(to) ? [to] : []));
  }

  sourcesOf(node: number): readonly number[] {
    return this.#sources.get(node) ?? [];
  }

  /** Returns `node` if it is in this scope, or else the loop of this scope that encloses it, if any. */
  lift(node: number): number | undefined {
    return this.#has(node) ? node : this.#around[node]?.find((loop) => this.#has(loop));
  }

  /** Returns the node and, if it is a loop, all nodes in its body, including inner bodies. */
  withBody(node: number): number[] {
    if (this.#plan.bodies?.[node] === undefined) return [node];
    return this.#around.flatMap((loops, each) => (each === node || loops.includes(node) ? [each] : []));
  }

  /** True if the test always has the node: the trigger at the start, or the loop around the scope. */
  isAlwaysThere(node: number): boolean {
    return node === this.#loop || (node === 0 && this.#loop === undefined && this.#plan.kinds[0] === 'trigger');
  }

  #has(node: number): boolean {
    return node >= this.#first && node < this.#end;
  }
}

interface ScopeChoice {
  target: number;
  /** True if the target is the tested node itself. */
  isInnermost: boolean;
  /** The nodes that executed nodes of inner scopes read. */
  readInside: readonly number[];
}

function chooseInScope(
  members: Members,
  { mode, isFixed, readsOf }: TestRequest,
  { target, isInnermost, readInside }: ScopeChoice,
): { scope: Omit<TestScope, 'loop'>; reads: number[] } {
  // An enclosing loop gets its items from an earlier run, unless the test executes everything before the loop.
  const ownReads = (node: number): readonly number[] => {
    if (node !== target || isInnermost) {
      if (isFixed(node)) return [];
      const own = members.withBody(node).filter((each) => !isFixed(each));
      return own.flatMap((each) => readsOf(each));
    }
    return mode === 'up_to' ? [...readsOf(target), ...readInside] : readInside;
  };
  const liftedReads = (node: number): number[] => ownReads(node).flatMap((read) => members.lift(read) ?? []);
  const executed = executedIn(members, { mode, target, isInnermost, isFixed, liftedReads });
  const all = [...executed].flatMap((node) => ownReads(node));
  const read = all.flatMap((number) => members.lift(number) ?? []).filter((node) => !executed.has(node));
  const follows = mode === 'from' && isInnermost;
  const before = follows
    ? [...executed].filter((node) => node !== target).flatMap((node) => members.sourcesOf(node))
    : [];
  const others = (nodes: readonly number[]): Set<number> =>
    new Set(nodes.filter((node) => !executed.has(node) && !members.isAlwaysThere(node)));
  const scope = { target, executed, wanted: others([...read, ...before]), needed: others(read) };
  return { scope, reads: all.filter((number) => members.lift(number) === undefined) };
}

interface ExecutionChoice extends Pick<TestRequest, 'mode' | 'isFixed'>, Omit<ScopeChoice, 'readInside'> {
  liftedReads: (node: number) => readonly number[];
}

function executedIn(members: Members, choice: ExecutionChoice): Set<number> {
  const { mode, target, isInnermost, isFixed, liftedReads } = choice;
  if (mode === 'from' && isInnermost) return reached(target, (node) => members.targetsOf(node));
  if (mode !== 'up_to') return new Set([target]);
  const behind = reached(target, (node) => members.sourcesOf(node));
  // The nodes on which a node with a fixed result depends are not needed.
  return reached(target, (node) => {
    if ((node !== target || isInnermost) && isFixed(node)) return [];
    return [...members.sourcesOf(node), ...liftedReads(node).filter((read) => behind.has(read))];
  });
}

function reached(from: number, next: (node: number) => readonly number[]): Set<number> {
  const found = new Set([from]);
  // The set grows while it is iterated.
  for (const node of found) for (const to of next(node)) found.add(to);
  return found;
}

export interface PlannedTest extends Pick<TestRequest, 'mode'> {
  scopes: readonly TestScope[];
  /** The wanted nodes whose results are reused, each with the handles by which it was left. */
  taken: ReadonlyMap<number, readonly Handle[]>;
  /** The nodes with fixed results: everywhere, or in the iterations with these paths. */
  fixed: ReadonlyMap<number, true | string[]>;
  /** The only executed iteration of each loop around the tested node. */
  only: ReadonlyMap<number, number>;
}

/**
 * Returns the plan of a test. The plan has no links from nodes outside the test; a node that has no links left starts
 * at once. In the modes `node` and `from`, the tested node starts as soon as all reused results are settled, regardless
 * of its incoming links; in the mode `up_to`, it waits for these links.
 */
export function planOfTest(plan: Plan, test: PlannedTest): Plan {
  const [root, ...inner] = test.scopes;
  const drawn = drawScope(plan, test, root!);
  const bodies = new Map(inner.map((scope) => [scope.loop!, drawScope(plan, test, scope)]));
  return renumber(plan, test, { drawn, bodies });
}

interface DrawnScope {
  /** Excludes the enclosing loop. */
  numbers: number[];
  /** The links within the scope, by source node. The enclosing loop is a source, too. */
  links: ReadonlyMap<number, [to: number, handle: Handle][]>;
}

function drawScope(plan: Plan, { mode, taken }: PlannedTest, scope: TestScope): DrawnScope {
  const { loop, target, executed, wanted } = scope;
  const own = [...wanted].filter((node) => taken.has(node));
  const isTrigger = loop === undefined && plan.kinds[0] === 'trigger';
  const members = [...new Set([...(isTrigger ? [0] : []), ...own, ...executed])].toSorted((a, b) => a - b);
  const has = new Set(members);
  const isLink = (to: number): boolean => executed.has(to) && (mode === 'up_to' || to !== target);
  const links = new Map(members.map((from) => [from, plan.out[from]!.filter(([to]) => has.has(to) && isLink(to))]));
  const hasSource = new Set([...links.values()].flat().map(([to]) => to));
  const startsAtOnce = (node: number): boolean =>
    node === target ? mode !== 'up_to' || !hasSource.has(node) : !hasSource.has(node);
  const entry =
    loop === undefined ? entryOf(plan, { target, members, taken, hasSource }) : { node: loop, handle: BODY_HANDLE };
  const begins = members.filter((node) => node !== entry.node && startsAtOnce(node));
  links.set(entry.node, [
    ...(links.get(entry.node) ?? []),
    ...begins.map((to): [number, Handle] => [to, entry.handle]),
  ]);
  // The tested node, or the loop that encloses it, waits for all reused results of the scope.
  if (mode !== 'up_to' && entry.node !== target) {
    for (const node of own) links.set(node, [...links.get(node)!, [target, 0]]);
  }
  const numbers = loop === undefined ? [entry.node, ...members.filter((node) => node !== entry.node)] : members;
  return { numbers, links };
}

interface Entry {
  node: number;
  /** The handle that the entry node always takes. */
  handle: Handle;
}

interface Entering extends Pick<PlannedTest, 'taken'>, Pick<TestScope, 'target'> {
  members: readonly number[];
  hasSource: ReadonlySet<number>;
}

/**
 * Chooses the first node of the plan: the start node if it is a trigger or is executed, or else a node with a reused
 * result, or else an executed node.
 */
function entryOf({ kinds }: Plan, { target, members, taken, hasSource }: Entering): Entry {
  if (kinds[0] === 'trigger' || (members[0] === 0 && !taken.has(0))) return { node: 0, handle: 0 };
  const first = members.find((node) => taken.has(node));
  if (first !== undefined) return { node: first, handle: taken.get(first)![0] ?? 0 };
  return { node: members.find((node) => !hasSource.has(node)) ?? target, handle: 0 };
}

interface DrawnTest {
  drawn: DrawnScope;
  /** The bodies that are only partly executed, by loop. */
  bodies: ReadonlyMap<number, DrawnScope>;
}

/** Renumbers the nodes as `compilePlan` does: bodies follow the nodes outside them, in the order of their loops. */
function renumber(plan: Plan, { mode, fixed, only, scopes }: PlannedTest, { drawn, bodies }: DrawnTest): Plan {
  const order = [...drawn.numbers];
  const places: Record<number, { first: number; end: number }> = {};
  const executed = new Set(scopes.flatMap((scope) => [...scope.executed]));
  const isWhole = new Set<number>();
  // The list grows while it is iterated, because a body may contain loops.
  for (const [number, node] of order.entries()) {
    const body = plan.bodies?.[node];
    const partial = bodies.get(node);
    const isRun = partial !== undefined || ((executed.has(node) || isWhole.has(node)) && fixed.get(node) !== true);
    if (body === undefined || !isRun) continue;
    const first = order.length;
    const inside = partial?.numbers ?? Array.from({ length: body.end - body.first }, (_, index) => body.first + index);
    order.push(...inside);
    if (partial === undefined) for (const inner of inside) isWhole.add(inner);
    places[number] = { first, end: order.length };
  }
  const numbers = new Map(order.map((node, place) => [node, place]));
  const scopeOf = new Map(
    [drawn, ...bodies.values()].flatMap((scope) => scope.numbers.map((node) => [node, scope] as const)),
  );
  const linksOf = (node: number): [number, Handle][] => {
    if (isWhole.has(node)) return plan.out[node]!;
    const own = scopeOf.get(node)?.links.get(node) ?? [];
    if (bodies.has(node)) return [...own, ...(bodies.get(node)!.links.get(node) ?? [])];
    const intoBody =
      plan.bodies?.[node] === undefined ? [] : plan.out[node]!.filter(([, handle]) => handle === BODY_HANDLE);
    return [...own, ...intoBody];
  };
  const out = order.map((node) =>
    linksOf(node).flatMap(([to, handle]): [number, Handle][] => {
      const place = numbers.get(to);
      return place === undefined ? [] : [[place, handle]];
    }),
  );
  const indegree = order.map(() => 0);
  for (const [to] of out.flat()) indegree[to]!++;
  const pick = <Value>(values: readonly Value[]): Value[] => order.map((node) => values[node]!);
  const targets = new Set(mode === 'up_to' ? [] : scopes.map(({ target }) => target));
  const joinsAny = (plan.joinsAny ?? []).flatMap((node) => (targets.has(node) ? [] : (numbers.get(node) ?? [])));
  return {
    ids: pick(plan.ids),
    kinds: pick(plan.kinds),
    labels: pick(plan.labels),
    out,
    indegree,
    ...pickRecord('caught', order, (node) => plan.caught?.[node]),
    ...(Object.keys(places).length > 0 && { bodies: places }),
    ...(joinsAny.length > 0 && { joinsAny }),
    ...pickRecord('given', order, (node) => (bodies.has(node) ? undefined : fixed.get(node))),
    ...pickRecord('only', order, (node) => only.get(node)),
    ...pickRecord('pools', order, (node) => plan.pools?.[node]),
    ...pickRecord('takeWithin', order, (node) => plan.takeWithin?.[node]),
  };
}

/** Returns `{[name]: values by new number}`, or an empty object if there are no values. */
function pickRecord<Name extends string, Value>(
  name: Name,
  order: readonly number[],
  valueOf: (node: number) => Value | undefined,
): Partial<Record<Name, Record<number, Value>>> {
  const found = order.flatMap((node, place) => {
    const value = valueOf(node);
    return value === undefined ? [] : [[place, value] as const];
  });
  return found.length === 0 ? {} : ({ [name]: Object.fromEntries(found) } as Record<Name, Record<number, Value>>);
}
