// The measured jobs, as drawings for the service. twin/workflows.ts makes the same calls in hand-written code.
import {
  condition,
  drawing,
  http,
  link,
  node,
  resultOf,
  trigger,
  type Drawing,
  type DrawingNode,
} from '../harness/drawing/drawing.js';
import type { BesideRow, GraphRow } from './graph-rows.js';

export type Shape = 'chain' | 'fan' | 'fan-out' | 'branch' | 'diamonds' | 'for-each';

export interface Graph {
  name: string;
  shape: Shape;
  /** The number of calls of a chain, parallel calls of a fan-out, conditions of diamonds, or items of a for-each. */
  size: number;
  /** The number of items that a for-each processes in parallel. */
  concurrency?: number;
  /** HTTP calls that a run makes. */
  calls: number;
  /** The method and address of every call, such as `POST /?of=others`, instead of the usual ones. Twins ignore it. */
  call?: string;
}

/** The input of a run. Every call's path is `/<tag>/<number>`. */
export interface JobInput {
  tag: string;
  /** How long the target takes to answer. */
  delayMs: number;
}

export function chainOf(size: number): Graph {
  return { name: `chain-${size}`, shape: 'chain', size, calls: size };
}

function forEachOf(size: number, concurrency: number): Graph {
  return { name: `for-each-${size}-by-${concurrency}`, shape: 'for-each', size, concurrency, calls: size };
}

export const graphs = {
  'chain-5': chainOf(5),
  'chain-20': chainOf(20),
  /** 20 parallel calls. */
  'fan-20': { name: 'fan-20', shape: 'fan', size: 20, calls: 20 },
  /** 20 parallel calls, then one that waits for all of them. */
  'fan-out-20': { name: 'fan-out-20', shape: 'fan-out', size: 20, calls: 21 },
  /** A call, a condition on its answer, and a call in each branch. */
  branch: { name: 'branch', shape: 'branch', size: 1, calls: 2 },
  /** Three conditions in a row, each with a call in either branch after which the branches join; then one more call. */
  diamonds: { name: 'diamonds', shape: 'diamonds', size: 3, calls: 4 },
  /** A call for each item of a list, with the default concurrency and with the highest one. */
  'for-each-100-by-5': forEachOf(100, 5),
  'for-each-100-by-20': forEachOf(100, 20),
} as const satisfies Record<GraphRow | BesideRow, Graph>;

/** Makes a call whose path ends with `number` (a number or a variable) and whose query contains `after`. */
type MakeCall = (number: number | string, after: string) => DrawingNode;

/**
 * Returns a drawing in the form in which the visual editor saves it. Each call uses part of an earlier answer, as in
 * users' drawings.
 */
export function toDrawing(graph: Graph, targetUrl: string): Drawing {
  const start = trigger([], named('Start'));
  const call: MakeCall = (number, after) => {
    const label = named(`Call ${number}`);
    if (graph.call !== undefined) return callOf(graph.call, targetUrl, { ...label, body: { number, after } });
    const url = `${targetUrl}/{{ input.tag }}/${number}?delay={{ input.delayMs }}&after=${after}`;
    return http(url, label);
  };
  const whole = drawing([start, ...nodesAfter[graph.shape](start, call, graph)]);
  const bodies = whole.nodes.flatMap(({ id, data }) => {
    const body = data['body_node'];
    return typeof body === 'string'
      ? [{ id: `${id}-body-${body}`, source: id, target: body, sourceHandle: 'body' }]
      : [];
  });
  return { ...whole, edges: [...whole.edges, ...bodies] };
}

function callOf(call: string, targetUrl: string, { body, ...data }: Record<string, unknown>): DrawingNode {
  const [method, address] = call.split(' ');
  return http(`${targetUrl}${address}`, { ...data, method, ...(method === 'GET' ? {} : { body }) });
}

const nodesAfter: Record<Shape, (start: DrawingNode, call: MakeCall, graph: Graph) => DrawingNode[]> = {
  chain(start, call, { size }) {
    const nodes: DrawingNode[] = [];
    for (let number = 1; number <= size; number++) {
      const before = nodes.at(-1);
      const next = call(number, before === undefined ? 'start' : answerOf(before));
      link(before ?? start, next);
      nodes.push(next);
    }
    return nodes;
  },

  fan(start, call, { size }) {
    const side = Array.from({ length: size }, (_, index) => call(index + 1, 'start'));
    link(start, side);
    return side;
  },

  'fan-out'(start, call, graph) {
    const side = nodesAfter.fan(start, call, graph);
    const join = call(graph.size + 1, answerOf(side[0]!));
    for (const each of side) link(each, join);
    return [...side, join];
  },

  branch(start, call) {
    const first = call(1, 'start');
    const [whenTrue, whenFalse] = [call(2, answerOf(first)), call(3, answerOf(first))];
    const decision = toCondition([answerOf(first), '==', 'yes'], whenTrue, whenFalse);
    link(start, first);
    link(first, decision);
    return [first, decision, whenTrue, whenFalse];
  },

  diamonds(start, call, { size }) {
    const nodes: DrawingNode[] = [];
    let [before, answer, ends] = ['{{ input.tag }}', 'start', [start]];
    for (let diamond = 1; diamond <= size; diamond++) {
      const [first, second] = [call(2 * diamond - 1, answer), call(2 * diamond, answer)];
      const isOdd = diamond % 2 === 1;
      const decision = toCondition([before, '!=', isOdd ? 'none' : 'yes'], first, second);
      for (const end of ends) link(end, decision);
      nodes.push(decision, first, second);
      // The target answers "yes", so odd diamonds make their first call and even diamonds their second.
      before = answer = answerOf(isOdd ? first : second);
      ends = [first, second];
    }
    const last = call(2 * size + 1, answer);
    for (const end of ends) link(end, last);
    return [...nodes, last];
  },

  'for-each'(start, makeCall, { size, concurrency }) {
    const items = Array.from({ length: size }, (_, index) => index + 1);
    const each = node('for_each', { ...named('Each item'), items, concurrency });
    const call = makeCall(`{{ ${each.id}.item }}`, 'start');
    each.data['body_node'] = call.id;
    link(start, each);
    return [each, call];
  },
};

function toCondition(
  [left, operator, right]: [string, '==' | '!=', string],
  whenTrue: DrawingNode,
  whenFalse: DrawingNode,
): DrawingNode {
  const decision = condition(left, operator, right, named(`Is it ${operator} ${right}?`));
  link(decision, whenTrue, 'true');
  link(decision, whenFalse, 'false');
  return decision;
}

function answerOf(called: DrawingNode): string {
  return resultOf(called, 'json.well');
}

function named(label: string): { name: string; label: string } {
  return { name: label, label };
}
