// Short ways to write drawings for the tests of this folder.
export interface DrawnTestNode {
  id: string;
  type: string;
  data: Record<string, unknown>;
}

export function trigger(
  id: string,
  next: string[] | undefined,
  fields: unknown[] = [],
  data: Record<string, unknown> = {},
): DrawnTestNode {
  return { id, type: 'trigger-node', data: { ...(next && { next_nodes: next }), input_fields: fields, ...data } };
}

export function http(id: string, next?: unknown, data: Record<string, unknown> = {}): DrawnTestNode {
  const links = next === undefined ? {} : { next_nodes: next };
  return { id, type: 'http-node', data: { url: 'http://target.test/', ...links, ...data } };
}

export function condition(id: string, links: Record<string, unknown> = {}): DrawnTestNode {
  return { id, type: 'if-else-node', data: { condition: { left: '1', operator: '==', right: '1' }, ...links } };
}

export function llm(id: string, message: string, next?: string[]): DrawnTestNode {
  const messages = [{ role: 'user', message }];
  const data = { messages, settings: { model_name: 'm' }, ...(next && { next_nodes: next }) };
  return { id, type: 'basic-node', data };
}

export function edge(source: unknown, target: unknown, sourceHandle?: string): Record<string, unknown> {
  return { id: `${String(source)}-${String(target)}`, source, target, ...(sourceHandle && { sourceHandle }) };
}

export function drawing(nodes: unknown[], edges?: unknown[]): Record<string, unknown> {
  const [first] = nodes;
  const start = typeof first === 'object' && first !== null && 'id' in first ? first.id : undefined;
  return { nodes, start_node: start, ...(edges && { edges }) };
}
