// The jobs that are measured, each as a drawing for the service. twin/workflows.ts makes the same calls by hand.
import { randomUUID } from 'node:crypto';

export type Shape = 'empty' | 'chain' | 'fan-out' | 'branch';

export interface Graph {
  name: string;
  shape: Shape;
  /** Calls of a chain, calls side by side of a fan-out. */
  size: number;
  /** HTTP calls that a run makes. What is called "a node" in the figures: triggers and conditions come on top. */
  calls: number;
}

/** What a run is started with. Every call's path is `/<tag>/<number>`. */
export interface JobInput {
  tag: string;
  /** How long the target takes to answer. */
  delayMs: number;
}

export const EMPTY: Graph = { name: 'empty', shape: 'empty', size: 0, calls: 0 };
/** Only the call that is taken counts. */
export const BRANCH: Graph = { name: 'branch', shape: 'branch', size: 1, calls: 2 };

export function chainOf(size: number): Graph {
  return { name: `chain-${size}`, shape: 'chain', size, calls: size };
}

/** `size` calls side by side, then one that waits for them all. */
export function fanOutOf(size: number): Graph {
  return { name: `fan-out-${size}`, shape: 'fan-out', size, calls: size + 1 };
}

interface Node {
  id: string;
  type: string;
  position: { x: number; y: number };
  data: Record<string, unknown> & { next_nodes: string[] };
}

/** A call whose query holds `after`. */
type MakeCall = (number: number, after: string) => Node;

/** As the visual editor saves it. Each call hands something of an earlier answer on, as drawings that people make do. */
export function toDrawing({ shape, size }: Graph, targetUrl: string): Record<string, unknown> {
  const start = toNode('trigger-node', 'Start', { input_fields: [] });
  const call: MakeCall = (number, after) => {
    const url = `${targetUrl}/{{ input.tag }}/${number}?delay={{ input.delayMs }}&after=${after}`;
    return toNode('http-node', `Call ${number}`, { url, method: 'GET', headers: {} });
  };
  return drawing([start, ...nodesAfter[shape](start, call, size)]);
}

const nodesAfter: Record<Shape, (start: Node, call: MakeCall, size: number) => Node[]> = {
  empty: () => [],

  chain(start, call, size) {
    const nodes: Node[] = [];
    for (let number = 1; number <= size; number++) {
      const before = nodes.at(-1);
      const node = call(number, before === undefined ? 'start' : answerOf(before));
      (before ?? start).data.next_nodes.push(node.id);
      nodes.push(node);
    }
    return nodes;
  },

  'fan-out'(start, call, size) {
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
    const decision = toNode('if-else-node', 'Is it well?', {
      condition: { left: answerOf(first), operator: '==', right: 'yes' },
      true_node: whenTrue.id,
      false_node: whenFalse.id,
    });
    start.data.next_nodes.push(first.id);
    first.data.next_nodes.push(decision.id);
    return [first, decision, whenTrue, whenFalse];
  },
};

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
  ]);
  return { nodes, edges, viewport: { x: 0, y: 0, zoom: 1 }, start_node: nodes[0]!.id };
}

function edge(source: string, target: string, sourceHandle?: string): Record<string, string> {
  const handle = sourceHandle === undefined ? {} : { sourceHandle };
  return { id: `${source}-${sourceHandle ?? 'out'}-${target}`, source, target, ...handle };
}
