// The graphs under load.
import { randomUUID } from 'node:crypto';

interface DrawnNode {
  id: string;
  type: string;
  position: { x: number; y: number };
  data: Record<string, unknown> & { id: string };
}

const TYPES = { trigger: 'trigger-node', condition: 'if-else-node', http: 'http-node' };

function node(kind: keyof typeof TYPES, data: Record<string, unknown>): DrawnNode {
  const id = randomUUID();
  const common = { id, name: kind, label: kind, version: '1.0.0' };
  return { id, type: TYPES[kind], position: { x: 0, y: 0 }, data: { ...common, ...data } };
}

function http(url: string, data: Record<string, unknown> = {}): DrawnNode {
  return node('http', { url, method: 'GET', headers: {}, ...data });
}

function condition(left: string): DrawnNode {
  return node('condition', { condition: { left, operator: '==', right: left } });
}

function drawing(nodes: DrawnNode[]): object {
  return { nodes, edges: [], viewport: { x: 0, y: 0, zoom: 1 }, start_node: nodes[0]!.id };
}

function inARow(nodes: DrawnNode[]): object {
  nodes.forEach(({ data }, index) => {
    const next = nodes[index + 1];
    if (next !== undefined) data['next_nodes'] = [next.id];
  });
  return drawing(nodes);
}

/** Trigger, three GETs, a condition. */
export function smallRun(targetUrl: string): object {
  const gets = [1, 2, 3].map((number) => http(`${targetUrl}/small/${number}`));
  return inARow([node('trigger', { input_fields: [] }), ...gets, condition('1')]);
}

/** Trigger and one GET that takes `delayMs`. */
export function slowRun(targetUrl: string, delayMs: number): object {
  return inARow([node('trigger', { input_fields: [] }), http(`${targetUrl}/delay/${delayMs}`)]);
}

/** A GET of `sizeBytes`, `posts` times handed on as the body of a POST that answers as much again, and compared. */
export function largeChain(targetUrl: string, sizeBytes: number, posts: number): object {
  const url = `${targetUrl}/bytes/${sizeBytes}`;
  const nodes = [node('trigger', { input_fields: [] }), http(url)];
  for (let index = 0; index < posts; index += 1) {
    const before = nodes.at(-1)!;
    nodes.push(http(url, { method: 'POST', body: `{{ ${before.id}.result.content }}` }));
  }
  nodes.push(condition(`{{ ${nodes.at(-1)!.id}.result.content }}`));
  return inARow(nodes);
}

/** `width` GETs of `sizeBytes` side by side. */
export function largeFanOut(targetUrl: string, sizeBytes: number, width: number): object {
  const branches = Array.from({ length: width }, () => http(`${targetUrl}/bytes/${sizeBytes}`));
  const trigger = node('trigger', { input_fields: [], next_nodes: branches.map(({ id }) => id) });
  return drawing([trigger, ...branches]);
}
