// Builds drawings in the form in which the visual editor saves them.
import { randomUUID } from 'node:crypto';
import { traitsOf, type NodeKind } from '../../graph/kinds.js';
import { nodeDefinitions } from '../../graph/nodes/registry.js';

type Data = Record<string, unknown>;

export interface DrawingNode {
  id: string;
  type: string;
  position: { x: number; y: number };
  data: Data & { id: string; next_nodes?: string[]; true_node?: string; false_node?: string };
}

interface DrawingEdge {
  id: string;
  source: string;
  target: string;
  sourceHandle?: string;
}

export interface Drawing {
  nodes: DrawingNode[];
  edges: DrawingEdge[];
  viewport: { x: number; y: number; zoom: number };
  start_node: string;
  [key: string]: unknown;
}

/** Returns a node with a new id. `data` overrides the common fields. */
export function node(kind: NodeKind, data: Data = {}): DrawingNode {
  const id = randomUUID();
  const links = traitsOf(kind).handles.length > 0 ? {} : { next_nodes: [] };
  const common = { id, name: kind, label: kind, version: '1.0.0', ...links };
  return { id, type: nodeDefinitions[kind].type, position: { x: 0, y: 0 }, data: { ...common, ...data } };
}

export function trigger(inputFields: Data[] = [], data: Data = {}): DrawingNode {
  return node('trigger', { input_fields: inputFields, ...data });
}

export function http(url: string, data: Data = {}): DrawingNode {
  return node('http', { url, method: 'GET', headers: {}, ...data });
}

export function llm(message: string, data: Data = {}): DrawingNode {
  return node('llm', {
    messages: [{ role: 'user', message }],
    settings: { model_name: 'test-model', temperature: 0 },
    ...data,
  });
}

export function condition(left: unknown, operator: string, right: unknown, data: Data = {}): DrawingNode {
  return node('condition', { condition: { left, operator, right }, ...data });
}

/** `tools` are MCP servers with the label `tools` and the transport streamable_http, unless they say otherwise. */
export function agent(message: string, settings: Data, tools: Data[], data: Data = {}): DrawingNode {
  const server = { type: 'mcp', server_label: 'tools', transport: 'streamable_http' };
  return node('agent', {
    messages: [{ role: 'user', message }],
    settings: { model_name: 'test-agent', ...settings },
    tools: tools.map((tool) => ({ ...server, ...tool })),
    ...data,
  });
}

export function mcp(endpointUrl: string, toolName: string, args: Data = {}, data: Data = {}): DrawingNode {
  return node('mcp', { endpoint_url: endpointUrl, tool_name: toolName, arguments: args, ...data });
}

/** Returns `{{ <node>.result.<path> }}`. */
export function resultOf(of: DrawingNode, path = 'content'): string {
  return `{{ ${of.id}.result.${path} }}`;
}

/** Links `from` to each node of `to`. If `from` is a condition, links the given branch, which has only one node. */
export function link(from: DrawingNode, to: DrawingNode | DrawingNode[], branch: 'true' | 'false' = 'true'): void {
  for (const { id } of Array.isArray(to) ? to : [to]) {
    if (from.type === nodeDefinitions.condition.type) from.data[`${branch}_node`] = id;
    else from.data.next_nodes = [...(from.data.next_nodes ?? []), id];
  }
}

/** Links each node to the next one, and returns the nodes. */
export function linkInRow(nodes: DrawingNode[]): DrawingNode[] {
  for (const [index, to] of nodes.entries()) if (index > 0) link(nodes[index - 1]!, to);
  return nodes;
}

/** Returns a trigger and these nodes, one after the other. */
export function inRow(...nodes: DrawingNode[]): DrawingNode[] {
  return linkInRow([trigger(), ...nodes]);
}

/** Returns a trigger and these nodes, in parallel branches. */
export function sideBySide(...nodes: DrawingNode[]): DrawingNode[] {
  const start = trigger();
  link(start, nodes);
  return [start, ...nodes];
}

/** Returns a drawing of these nodes, which starts with the first one. Only ordinary links and branches get edges. */
export function drawing(nodes: DrawingNode[]): Drawing {
  const edges = nodes.flatMap((source) => [
    ...(source.data.next_nodes ?? []).map((target) => edge(source.id, target)),
    ...(source.data.true_node === undefined ? [] : [edge(source.id, source.data.true_node, 'condition-true')]),
    ...(source.data.false_node === undefined ? [] : [edge(source.id, source.data.false_node, 'condition-false')]),
  ]);
  const placed = nodes.map((item, index) => ({ ...item, position: { x: 260 * index, y: 0 } }));
  return { nodes: placed, edges, viewport: { x: 0, y: 0, zoom: 1 }, start_node: nodes[0]?.id ?? '' };
}

/** Returns a trigger and `length - 1` nodes in a row. By default, these are conditions that are true. */
export function chain(length: number, make: (index: number) => DrawingNode = alwaysTrue): Drawing {
  return drawing(inRow(...Array.from({ length: length - 1 }, (_, index) => make(index))));
}

/** Returns a trigger, `width` parallel nodes after it, and `join` after all of them. */
export function fanOut(width: number, make: (index: number) => DrawingNode = alwaysTrue, join?: DrawingNode): Drawing {
  const start = trigger();
  const branches = Array.from({ length: width }, (_, index) => make(index));
  link(start, branches);
  if (join !== undefined) for (const branch of branches) link(branch, join);
  return drawing([start, ...branches, ...(join === undefined ? [] : [join])]);
}

function alwaysTrue(): DrawingNode {
  return condition('1', '==', '1');
}

function edge(source: string, target: string, sourceHandle?: string): DrawingEdge {
  const handle = sourceHandle === undefined ? {} : { sourceHandle };
  return { id: `${source}-${sourceHandle ?? 'out'}-${target}`, source, target, ...handle };
}
