// The jobs that are measured, each as a drawing for the service. twin/workflows.ts makes the same calls by hand.
import { randomUUID } from 'node:crypto';
import type { GraphRow } from './graph-rows.js';

export type Shape = 'chain' | 'fan-out' | 'branch' | 'diamonds' | 'for-each';

export interface Graph {
  name: string;
  shape: Shape;
  /** Calls of a chain, calls side by side of a fan-out, conditions of diamonds, items of a for-each. */
  size: number;
  /** How many items of a for-each are worked on side by side. */
  concurrency?: number;
  /** HTTP calls that a run makes. */
  calls: number;
}

/** What a run is started with. Every call's path is `/<tag>/<number>`. */
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
  /** 20 calls side by side, then one that waits for them all. */
  'fan-out-20': { name: 'fan-out-20', shape: 'fan-out', size: 20, calls: 21 },
  /** A call, a condition on its answer, a call on either side. */
  branch: { name: 'branch', shape: 'branch', size: 1, calls: 2 },
  /** Three conditions in a row with a call on either side, whose ways meet again; then a call. */
  diamonds: { name: 'diamonds', shape: 'diamonds', size: 3, calls: 4 },
  /** A call for each item of a list: by the default concurrency, and by the highest one. */
  'for-each-100-by-5': forEachOf(100, 5),
  'for-each-100-by-20': forEachOf(100, 20),
} as const satisfies Record<GraphRow, Graph>;

interface Node {
  id: string;
  type: string;
  position: { x: number; y: number };
  data: Record<string, unknown> & { next_nodes: string[] };
}

/** A call whose path ends with `number` (a number, or a variable), and whose query holds `after`. */
type MakeCall = (number: number | string, after: string) => Node;

/** The drawing has the form in which the visual editor saves it. Each call hands something of an earlier answer on, as drawings that people make do. */
export function toDrawing(graph: Graph, targetUrl: string): Record<string, unknown> {
  const start = toNode('trigger-node', 'Start', { input_fields: [] });
  const call: MakeCall = (number, after) => {
    const url = `${targetUrl}/{{ input.tag }}/${number}?delay={{ input.delayMs }}&after=${after}`;
    return toNode('http-node', `Call ${number}`, { url, method: 'GET', headers: {} });
  };
  return drawing([start, ...nodesAfter[graph.shape](start, call, graph)]);
}

const nodesAfter: Record<Shape, (start: Node, call: MakeCall, graph: Graph) => Node[]> = {
  chain(start, call, { size }) {
    const nodes: Node[] = [];
    for (let number = 1; number <= size; number++) {
      const before = nodes.at(-1);
      const node = call(number, before === undefined ? 'start' : answerOf(before));
      (before ?? start).data.next_nodes.push(node.id);
      nodes.push(node);
    }
    return nodes;
  },

  'fan-out'(start, call, { size }) {
    const side = Array.from({ length: size }, (_, index) => call(index + 1, 'start'));
    const join = call(size + 1, answerOf(side[0]!));
    for (const node of side) {
      start.data.next_nodes.push(node.id);
      node.data.next_nodes.push(join.id);
    }
    return [...side, join];
  },

  branch(start, call) {
    const first = call(1, 'start');
    const [whenTrue, whenFalse] = [call(2, answerOf(first)), call(3, answerOf(first))];
    const decision = toCondition([answerOf(first), '==', 'yes'], whenTrue, whenFalse);
    start.data.next_nodes.push(first.id);
    first.data.next_nodes.push(decision.id);
    return [first, decision, whenTrue, whenFalse];
  },

  diamonds(start, call, { size }) {
    const nodes: Node[] = [];
    let [before, answer, ends] = ['{{ input.tag }}', 'start', [start]];
    for (let diamond = 1; diamond <= size; diamond++) {
      const [first, second] = [call(2 * diamond - 1, answer), call(2 * diamond, answer)];
      const isOdd = diamond % 2 === 1;
      const decision = toCondition([before, '!=', isOdd ? 'none' : 'yes'], first, second);
      for (const end of ends) end.data.next_nodes.push(decision.id);
      nodes.push(decision, first, second);
      // The target answers "yes", so odd diamonds make their first call and even ones their second.
      before = answer = answerOf(isOdd ? first : second);
      ends = [first, second];
    }
    const last = call(2 * size + 1, answer);
    for (const end of ends) end.data.next_nodes.push(last.id);
    return [...nodes, last];
  },

  'for-each'(start, makeCall, { size, concurrency }) {
    const items = Array.from({ length: size }, (_, index) => index + 1);
    const each = toNode('for-each-node', 'Each item', { items, concurrency });
    const call = makeCall(`{{ ${each.id}.item }}`, 'start');
    each.data['body_node'] = call.id;
    start.data.next_nodes.push(each.id);
    return [each, call];
  },
};

function toCondition([left, operator, right]: [string, '==' | '!=', string], whenTrue: Node, whenFalse: Node): Node {
  return toNode('if-else-node', `Is it ${operator} ${right}?`, {
    condition: { left, operator, right },
    true_node: whenTrue.id,
    false_node: whenFalse.id,
  });
}

function answerOf(node: Node): string {
  return `{{ ${node.id}.result.json.well }}`;
}

function toNode(type: string, label: string, data: Record<string, unknown>): Node {
  const id = randomUUID();
  const common = { id, name: label, label, version: '1.0.0', next_nodes: [] };
  return { id, type, position: { x: 0, y: 0 }, data: { ...common, ...data } };
}

function drawing(nodes: Node[]): Record<string, unknown> {
  const edges = nodes.flatMap(({ id, data }) => [
    ...data.next_nodes.map((target) => edge(id, target)),
    ...(typeof data['true_node'] === 'string' ? [edge(id, data['true_node'], 'condition-true')] : []),
    ...(typeof data['false_node'] === 'string' ? [edge(id, data['false_node'], 'condition-false')] : []),
    ...(typeof data['body_node'] === 'string' ? [edge(id, data['body_node'], 'body')] : []),
  ]);
  return { nodes, edges, viewport: { x: 0, y: 0, zoom: 1 }, start_node: nodes[0]!.id };
}

function edge(source: string, target: string, sourceHandle?: string): Record<string, string> {
  const handle = sourceHandle === undefined ? {} : { sourceHandle };
  return { id: `${source}-${sourceHandle ?? 'out'}-${target}`, source, target, ...handle };
}
