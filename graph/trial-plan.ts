// The plan of a test run: a part of the drawing is executed, and the results of other nodes are taken. Extensions, section
// 11.
import { enclosingLoops, rootPlan, type Handle, type Plan } from './plan.js';

/** `node`: one node; `up_to`: what it needs and itself; `from`: itself and what follows. */
export type TrialMode = 'node' | 'up_to' | 'from';

export interface TrialRequest {
  mode: TrialMode;
  /** The node that is tried: its number in the plan, outside bodies. */
  node: number;
  /** Whether the result of a node is given everywhere: by a mock, or by a pin. */
  isGiven: (node: number) => boolean;
  /** The numbers of the nodes whose results, errors or callbacks the data of a node names. */
  readsOf: (node: number) => readonly number[];
}

/** All numbers are of nodes outside bodies. A loop stands for its body, too. */
export interface Trial {
  /** The nodes that are executed, and those among them whose results are given. */
  executed: ReadonlySet<number>;
  /** Other nodes that decide about the executed ones, by a link or a variable: their results are taken where there are any. */
  wanted: ReadonlySet<number>;
  /** Those of the wanted ones that executed nodes read. */
  needed: ReadonlySet<number>;
}

/** Decides what a test executes and what it takes. */
export function chooseTrial(plan: Plan, request: TrialRequest): Trial {
  const scope = new TrialScope(plan, request);
  const executed = scope.executed();
  const reads = [...executed].flatMap((node) => scope.readsOf(node)).filter((node) => !executed.has(node));
  const isStart = (node: number): boolean => node === 0 && plan.kinds[0] === 'trigger';
  const before = request.mode === 'from' ? scope.before(executed) : [];
  const wanted = new Set([...reads, ...before].filter((node) => !isStart(node)));
  return { executed, wanted, needed: new Set(reads.filter((node) => !isStart(node))) };
}

class TrialScope {
  readonly #plan: Plan;
  readonly #request: TrialRequest;
  readonly #count: number;
  /** For each node, the outermost loop around it, or itself. */
  readonly #outermost: readonly number[];
  readonly #sources: number[][];

  constructor(plan: Plan, request: TrialRequest) {
    this.#plan = plan;
    this.#request = request;
    this.#count = rootPlan(plan).ids.length;
    this.#outermost = enclosingLoops(plan).map(([loop], node) => loop ?? node);
    this.#sources = Array.from({ length: this.#count }, () => []);
    for (let node = 0; node < this.#count; node++) {
      for (const to of this.#targetsOf(node)) this.#sources[to]!.push(node);
    }
  }

  executed(): Set<number> {
    const { mode, node } = this.#request;
    if (mode === 'node') return new Set([node]);
    if (mode === 'from') return this.#reached(node, (each) => this.#targetsOf(each));
    const behind = this.#reached(node, (each) => this.#sources[each]!);
    // What a given node would need is not needed.
    return this.#reached(node, (each) => {
      if (each !== node && this.#request.isGiven(each)) return [];
      return [...this.#sources[each]!, ...this.readsOf(each).filter((read) => behind.has(read))];
    });
  }

  /** The nodes outside bodies that the node reads, or a node of its body; a given one reads nothing. */
  readsOf(node: number): number[] {
    const { node: tried, isGiven, readsOf } = this.#request;
    const own = this.#outermost.flatMap((outermost, each) => (outermost === node ? [each] : []));
    const executed = own.filter((each) => each === tried || !isGiven(each));
    if (node !== tried && isGiven(node)) return [];
    return executed.flatMap((each) => readsOf(each)).flatMap((read) => this.#outermost[read] ?? []);
  }

  before(executed: ReadonlySet<number>): number[] {
    const others = [...executed].filter((node) => node !== this.#request.node);
    return others.flatMap((node) => this.#sources[node]!).filter((node) => !executed.has(node));
  }

  #targetsOf(node: number): number[] {
    return this.#plan.out[node]!.flatMap(([to]) => (to < this.#count ? [to] : []));
  }

  #reached(from: number, next: (node: number) => readonly number[]): Set<number> {
    const found = new Set([from]);
    // The set grows while it is iterated.
    for (const node of found) for (const to of next(node)) found.add(to);
    return found;
  }
}

interface PlannedTrial extends Pick<TrialRequest, 'mode' | 'node'>, Pick<Trial, 'executed'> {
  /** The other nodes whose results are taken, each with the handles by which it was left. */
  taken: ReadonlyMap<number, readonly Handle[]>;
  /** The nodes whose results are given: everywhere, or in the iterations with these paths. */
  given: ReadonlyMap<number, true | string[]>;
}

/**
 * Returns the plan of a test. Links from nodes that it does not have count as not taken. The node that is tried starts
 * whatever links lead to it, once all results that are taken are there.
 */
export function planTrial(plan: Plan, trial: PlannedTrial): Plan {
  const { mode, node: tried, executed, taken, given } = trial;
  const count = rootPlan(plan).ids.length;
  const has = (node: number): boolean => executed.has(node) || taken.has(node);
  const isTrigger = plan.kinds[0] === 'trigger';
  const roots = [...Array(count).keys()].filter((node) => has(node) || (node === 0 && isTrigger));
  const isLink = (to: number): boolean => executed.has(to) && (mode === 'up_to' || to !== tried);
  const links = (from: number): [number, Handle][] => plan.out[from]!.filter(([to]) => to >= count || isLink(to));
  const hasSource = new Set(roots.flatMap((from) => links(from).map(([to]) => to)));
  const entry = entryOf(plan, { tried, roots, taken, hasSource });
  const begins = roots.filter(
    (node) => node !== entry.node && (node === tried ? mode !== 'up_to' : !hasSource.has(node)),
  );
  const beforeTried = mode === 'up_to' || entry.node === tried ? [] : [...taken.keys()];
  const out = (from: number): [number, Handle][] => [
    ...links(from),
    ...(from === entry.node ? begins.map((to): [number, Handle] => [to, entry.handle]) : []),
    ...(beforeTried.includes(from) ? [[tried, 0] as [number, Handle]] : []),
  ];
  const numbers = [entry.node, ...roots.filter((node) => node !== entry.node)];
  return renumber(plan, {
    numbers,
    out,
    isExecuted: (node) => executed.has(node) && given.get(node) !== true,
    given,
    tried,
  });
}

interface Entry {
  node: number;
  /** The handle by which it is left in any case. */
  handle: Handle;
}

/** The first node of the plan: the trigger, or else a node whose result is taken, or else one that is executed. */
function entryOf(
  { kinds }: Plan,
  {
    tried,
    roots,
    taken,
    hasSource,
  }: { tried: number; roots: number[]; hasSource: ReadonlySet<number> } & Pick<PlannedTrial, 'taken'>,
): Entry {
  if (kinds[0] === 'trigger' || (roots[0] === 0 && !taken.has(0))) return { node: 0, handle: 0 };
  const [first] = roots.filter((node) => taken.has(node));
  if (first !== undefined) return { node: first, handle: taken.get(first)![0] ?? 0 };
  return { node: roots.find((node) => !hasSource.has(node)) ?? tried, handle: 0 };
}

interface Renumbering extends Pick<PlannedTrial, 'given'> {
  /** The nodes outside bodies, in their new order. */
  numbers: number[];
  out: (node: number) => [number, Handle][];
  isExecuted: (node: number) => boolean;
  tried: number;
}

/** Bodies follow the nodes outside them, in the order of their loops, as `compilePlan` numbers them. */
function renumber(plan: Plan, { numbers, out, isExecuted, given, tried }: Renumbering): Plan {
  const count = rootPlan(plan).ids.length;
  const order = [...numbers];
  const bodies: Record<number, { first: number; end: number }> = {};
  // The list grows while it is iterated: a body may have loops of its own.
  for (const [number, node] of order.entries()) {
    const body = plan.bodies?.[node];
    const isRun = node < count ? isExecuted(node) : given.get(node) !== true;
    if (body === undefined || !isRun) continue;
    const first = order.length;
    for (let inner = body.first; inner < body.end; inner++) order.push(inner);
    bodies[number] = { first, end: order.length };
  }
  const places = new Map(order.map((node, place) => [node, place]));
  const links = order.map((node) =>
    (node < count ? out(node) : plan.out[node]!).flatMap(([to, handle]): [number, Handle][] => {
      const place = places.get(to);
      return place === undefined ? [] : [[place, handle]];
    }),
  );
  const indegree = order.map(() => 0);
  for (const [to] of links.flat()) indegree[to]!++;
  const pick = <Value>(values: readonly Value[]): Value[] => order.map((node) => values[node]!);
  const caught = order.flatMap((node, place) => {
    const handle = plan.caught?.[node];
    return handle === undefined ? [] : [[place, handle] as const];
  });
  const joinsAny = (plan.joinsAny ?? []).flatMap((node) => (node === tried ? [] : (places.get(node) ?? [])));
  const givens = order.flatMap((node, place) => {
    const where = given.get(node);
    return where === undefined ? [] : [[place, where] as const];
  });
  return {
    ids: pick(plan.ids),
    kinds: pick(plan.kinds),
    labels: pick(plan.labels),
    out: links,
    indegree,
    ...(caught.length > 0 && { caught: Object.fromEntries(caught) }),
    ...(Object.keys(bodies).length > 0 && { bodies }),
    ...(joinsAny.length > 0 && { joinsAny }),
    ...(givens.length > 0 && { given: Object.fromEntries(givens) }),
  };
}
