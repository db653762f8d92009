// The plan of a run: its arrays, its scopes, and the handles by which nodes are left.
import { traitsOf, type NodeKind } from './kinds.js';

/**
 * The handle by which a node is left, and by which its edges are taken. 0 stands for the ordinary links. The kind's
 * named handles in the order of `kinds.ts` count from 1, and listed items from `FIRST_LISTED_HANDLE`.
 */
export type Handle = number;

/** The handle of the first item that the node's own data lists (`KindTraits.handlesFrom`). */
export const FIRST_LISTED_HANDLE = 100;
export const MAX_LISTED_HANDLES = 50;
/**
 * The handle of `body_node`, the first named handle of a kind that repeats a part of the drawing (`KindTraits.runs` is
 * `body`).
 */
export const BODY_HANDLE = 1;
/**
 * The handle of `timeout_node`, the first named handle of a kind whose wait may time out (`KindTraits.timeoutCode`).
 */
const TIMEOUT_HANDLE = 1;
/**
 * The handle of `error_node`, taken after a failure that the node catches (`on_error: "branch"`). Every kind has it.
 */
export const ERROR_HANDLE = 1000;

/**
 * The reachable part of a drawing as integer arrays, frozen when the run is accepted. Node 0 is the start. A plan holds
 * ids, kinds, labels and edges, never contents, because Temporal's history stores it.
 */
export interface Plan {
  /** The ids of the nodes. An index into this array is the node's number everywhere in the engine. */
  ids: string[];
  kinds: NodeKind[];
  /** Labels of at most 60 characters, for the Temporal UI. */
  labels: string[];
  out: [to: number, handle: Handle][][];
  indegree: number[];
  /**
   * The nodes whose failure the run survives, each with the handle that is then taken: 0 (`on_error: "continue"`) or
   * `ERROR_HANDLE` (`"branch"`). Absent if there are none.
   */
  caught?: Record<number, Handle>;
  /**
   * The body of each loop: the node numbers from `first` to `end` - 1. Nodes outside bodies have the lowest numbers,
   * then each body has consecutive numbers. An inner body comes after the outer one, whose range doesn't include the
   * inner body. Absent if there are no loops.
   */
  bodies?: Record<number, Body>;
  /** The nodes that start as soon as one incoming edge is taken (`join: "any"`). Absent if there are none. */
  joinsAny?: number[];
  /**
   * The nodes of a test run with fixed results, which are not executed (`test-plan.ts`): everywhere (`true`), or only
   * in the iterations with these paths. Absent if there are none. Not renamed to `fixed`: stored plans have this key.
   */
  given?: Record<number, true | string[]>;
  /** The pools that nodes name (`settings.pool`). Absent if none does. */
  pools?: Record<number, string>;
  /**
   * The seconds within which a worker must take a node (`settings.schedule_timeout`). Absent if no node has a limit.
   */
  takeWithin?: Record<number, number>;
  /** For each loop that a test run executes only in part, the index of its only iteration. Absent if there are none. */
  only?: Record<number, number>;
}

interface Body {
  first: number;
  end: number;
}

export const MAX_DEPTH = 5;

/**
 * The plan of one scope: the drawing outside bodies, or a loop's body. Node 0 of a body's plan is the loop with only
 * its links into the body. `offset` is added to the other numbers to get those of the whole plan.
 */
export interface ScopePlan extends Plan {
  offset: number;
}

/** Returns the plan of the drawing outside bodies, with the node numbers of the whole plan. */
export function rootPlan(plan: Plan): ScopePlan {
  if (plan.bodies === undefined) return { ...plan, offset: 0 };
  const end = Math.min(plan.ids.length, ...Object.values(plan.bodies).map(({ first }) => first));
  return slicePlan(plan, { first: 0, end });
}

export function bodyPlan(plan: Plan, loop: number): ScopePlan {
  const body = plan.bodies?.[loop];
  if (body === undefined) throw new Error(`node ${loop} has no body`);
  return slicePlan(plan, body, loop);
}

function slicePlan(plan: Plan, { first, end }: Body, loop?: number): ScopePlan {
  const entry = loop === undefined ? [] : [loop];
  const offset = first - entry.length;
  const numbers = [...entry, ...Array.from({ length: end - first }, (_, index) => first + index)];
  const isInside = (to: number): boolean => to >= first && to < end;
  const out = numbers.map((from) =>
    plan.out[from]!.flatMap(([to, handle]): [number, Handle][] => {
      if (from === loop) return handle === BODY_HANDLE ? [[to - offset, 0]] : [];
      return isInside(to) ? [[to - offset, handle]] : [];
    }),
  );
  const pick = <Value>(values: readonly Value[]): Value[] => numbers.map((number) => values[number]!);
  const caught = Object.entries(plan.caught ?? {}).filter(([node]) => isInside(Number(node)));
  return {
    offset,
    ids: pick(plan.ids),
    kinds: pick(plan.kinds),
    labels: pick(plan.labels),
    out,
    indegree: numbers.map((number) => (number === loop ? 0 : plan.indegree[number]!)),
    caught: Object.fromEntries(caught.map(([node, handle]) => [Number(node) - offset, handle])),
    joinsAny: (plan.joinsAny ?? []).filter(isInside).map((node) => node - offset),
    ...(plan.given !== undefined && { given: shifted(plan.given, offset) }),
    ...(plan.only !== undefined && { only: shifted(plan.only, offset) }),
    ...(plan.pools !== undefined && { pools: shifted(plan.pools, offset) }),
    ...(plan.takeWithin !== undefined && { takeWithin: shifted(plan.takeWithin, offset) }),
  };
}

function shifted<Value>(values: Record<number, Value>, offset: number): Record<number, Value> {
  return Object.fromEntries(Object.entries(values).map(([node, value]) => [Number(node) - offset, value]));
}

/** True if the node's result is fixed in the iteration `path`. */
export function isFixed({ given }: Plan, node: number, path: string): boolean {
  const where = given?.[node];
  return where === true || where?.includes(path) === true;
}

/** True if the node's wait may time out and a link of its timeout handle leads on. */
export function leavesAtTimeout({ kinds, out }: Plan, node: number): boolean {
  const { timeoutCode } = traitsOf(kinds[node]!);
  return timeoutCode !== undefined && out[node]!.some(([, handle]) => handle === TIMEOUT_HANDLE);
}

/**
 * Returns the handle by which a node is left after a failure that the run survives, or undefined if the failure ends
 * the run. Some codes end the run in any case (`mayBeCaught`); this is not checked here.
 */
export function handleAfter(code: string, plan: Plan, node: number): Handle | undefined {
  const isTimeout = code === traitsOf(plan.kinds[node]!).timeoutCode && leavesAtTimeout(plan, node);
  return isTimeout ? TIMEOUT_HANDLE : plan.caught?.[node];
}

/** The properties of a node's end that decide which of its links are taken. */
export interface NodeEnding {
  status: 'in progress' | 'succeed' | 'failed';
  handle: Handle;
  alsoHandles: Handle[] | null;
  errorCode: string | null;
  /** True if the node has failed and its run survived that. */
  isHandled: boolean;
}

/**
 * Returns the handles by which a node was left. Undefined if it hasn't ended, or if its failure ended the run or isn't
 * caught by this plan, which may be that of a later run.
 */
export function handlesAfter(end: NodeEnding, plan: Plan, node: number): Handle[] | undefined {
  if (end.status === 'succeed') return [end.handle, ...(end.alsoHandles ?? [])];
  if (end.status !== 'failed' || !end.isHandled) return undefined;
  const handle = handleAfter(end.errorCode ?? '', plan, node);
  return handle === undefined ? undefined : [handle];
}

/** Returns, for each node, the loops whose bodies enclose it, outermost first. */
export function enclosingLoops({ ids, bodies = {} }: Plan): number[][] {
  const around: number[][] = ids.map(() => []);
  // An outer loop has a lower number than the loops in its body.
  for (const loop of Object.keys(bodies)
    .map(Number)
    .toSorted((a, b) => a - b)) {
    const { first, end } = bodies[loop]!;
    for (let node = first; node < end; node++) around[node] = [...around[loop]!, loop];
  }
  return around;
}

/** Returns the numbers of the nodes in the loop's body that have no links to other nodes of the body. */
export function lastNodesOf(plan: Plan, loop: number): number[] {
  const { out, offset } = bodyPlan(plan, loop);
  return out.flatMap((links, node) => (node > 0 && links.length === 0 ? [node + offset] : []));
}

export interface NodeKey {
  runId: string;
  /** The enclosing iteration, such as `LOOP[3]/INNER[0]`; empty for nodes outside loops. */
  path: string;
  nodeId: string;
}
