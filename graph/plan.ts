import { traitsOf, type NodeKind } from './kinds.js';

/**
 * The handle by which a node is left, and by which its edges are taken: 0 is its ordinary links, and 1 and up are its
 * kind's named handles in their order (`kinds.ts`).
 */
export type Handle = number;

/** The handle of the first item that the node's own data lists (`KindTraits.handlesFrom`). The others follow it. */
export const FIRST_LISTED_HANDLE = 100;
export const MAX_LISTED_HANDLES = 50;
/** The link `body_node` of a kind that repeats a part of the drawing (`KindTraits.runs` is `body`): its first named handle. */
export const BODY_HANDLE = 1;
/** The link `timeout_node` of the kinds whose wait may time out (`KindTraits.timeoutCode`): their first named handle. */
const TIMEOUT_HANDLE = 1;
/** The link `error_node`, which is taken after a failure that is caught (`on_error: "branch"`). Every kind has it. */
export const ERROR_HANDLE = 1000;

/**
 * A run executes a plan: the reachable part of the drawing as integer arrays, with the start as node 0. It is frozen
 * when the run is accepted. Temporal's history stores it, so it holds ids, kinds, labels and edges, never contents.
 */
export interface Plan {
  /** Node UUIDs. The index is the node's number everywhere in the engine. */
  ids: string[];
  kinds: NodeKind[];
  /** Labels of at most 60 characters, for the Temporal UI. */
  labels: string[];
  out: [to: number, handle: Handle][][];
  indegree: number[];
  /**
   * The nodes whose failure the run survives, each with the handle that is taken then: 0 (`on_error: "continue"`) or
   * `ERROR_HANDLE` (`"branch"`). Absent where there are none.
   */
  caught?: Record<number, Handle>;
  /**
   * For each loop, the nodes of its body: the numbers from `first` up to, but without, `end`. The nodes of a body stand
   * next to each other, those of the drawing outside bodies first, and those of an inner body after those of the outer
   * one, in which they are not counted. Absent if there are none.
   */
  bodies?: Record<number, Body>;
  /** The nodes that start with the first of their incoming edges that is taken (`join: "any"`). Absent likewise. */
  joinsAny?: number[];
  /**
   * The nodes of a test run that are not executed, because their results are given (`test-plan.ts`): everywhere, or only
   * in the iterations with these paths. Absent likewise.
   */
  given?: Record<number, true | string[]>;
  /** The only iteration that a test executes of a loop. Absent likewise. */
  only?: Record<number, number>;
}

interface Body {
  first: number;
  end: number;
}

/** Bodies of loops may be nested as deep as this. */
export const MAX_DEPTH = 5;

/**
 * The plan of one scope: of the drawing outside bodies, or of a loop's body. In a body's plan, node 0 is the loop, whose
 * only links are those into the body, and the numbers of the others are shifted by `offset`.
 */
export interface ScopePlan extends Plan {
  offset: number;
}

/** Returns the plan of the drawing outside bodies; its numbers are those of the whole plan. */
export function rootPlan(plan: Plan): ScopePlan {
  if (plan.bodies === undefined) return { ...plan, offset: 0 };
  const end = Math.min(plan.ids.length, ...Object.values(plan.bodies).map(({ first }) => first));
  return slicePlan(plan, { first: 0, end });
}

/** Returns the plan of the loop's body. */
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
  };
}

function shifted<Value>(values: Record<number, Value>, offset: number): Record<number, Value> {
  return Object.fromEntries(Object.entries(values).map(([node, value]) => [Number(node) - offset, value]));
}

/** Returns whether the node's result is given in the iteration `path`. */
export function isGiven({ given }: Plan, node: number, path: string): boolean {
  const where = given?.[node];
  return where === true || where?.includes(path) === true;
}

/** Returns whether a link of the node is taken when its time is up. */
export function hasTimeoutWay({ kinds, out }: Plan, node: number): boolean {
  const { timeoutCode } = traitsOf(kinds[node]!);
  return timeoutCode !== undefined && out[node]!.some(([, handle]) => handle === TIMEOUT_HANDLE);
}

/** Returns the handle by which a node is left after a failure that the run survives; undefined where the failure ends the run. */
export function handleAfter(code: string, plan: Plan, node: number): Handle | undefined {
  const isTimeout = code === traitsOf(plan.kinds[node]!).timeoutCode && hasTimeoutWay(plan, node);
  return isTimeout ? TIMEOUT_HANDLE : plan.caught?.[node];
}

/** The end of a node, as far as its links are concerned. */
export interface NodeEnding {
  status: 'in progress' | 'succeed' | 'failed';
  handle: Handle;
  alsoHandles: Handle[] | null;
  errorCode: string | null;
  /** True if the node has failed and its run survived that. */
  isHandled: boolean;
}

/** Returns the handles by which a node is left that has ended so; undefined where it has not ended, or its run has with it. */
export function handlesAfter(end: NodeEnding, plan: Plan, node: number): Handle[] | undefined {
  if (end.status === 'succeed') return [end.handle, ...(end.alsoHandles ?? [])];
  if (end.status !== 'failed' || !end.isHandled) return undefined;
  const handle = handleAfter(end.errorCode ?? '', plan, node);
  return handle === undefined ? undefined : [handle];
}

/** Returns, for each node, the loops whose bodies enclose it, the outermost first. */
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

/** Returns the numbers of the nodes of the loop's body that no other node of the body follows. */
export function lastNodesOf(plan: Plan, loop: number): number[] {
  const { out, offset } = bodyPlan(plan, loop);
  return out.flatMap((links, node) => (node > 0 && links.length === 0 ? [node + offset] : []));
}

/** Identifies one execution of a node in a run. */
export interface NodeKey {
  runId: string;
  /** The enclosing iteration, such as `LOOP[3]/INNER[0]`; empty for nodes outside loops. */
  path: string;
  nodeId: string;
}
