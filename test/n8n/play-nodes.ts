// Imports a file with some nodes of n8n, and plays it in this process (play-drawing.ts).
import type { JsonObject } from '../../graph/json.js';
import { renderJson, type NodeOutput } from '../../graph/template.js';
import { translateN8n } from '../../n8n/translate-n8n.js';
import { play } from './play-drawing.js';

export interface Drawn {
  type: string;
  version?: number;
  parameters?: JsonObject;
  settings?: JsonObject;
  /** The names of the nodes that follow, by output. `Merge#1` stands for the second input of `Merge`. */
  to?: string[][];
}

/**
 * Imports and plays a file with these nodes, after a trigger that leads to the first. `of` of the result returns the
 * items that a node puts out. `more` is added to the result of every request.
 */
export async function playNodes(
  nodes: Record<string, Drawn>,
  answer: (url: string, sent: JsonObject) => unknown = (url) => ({ url }),
  more: Partial<NodeOutput> = {},
) {
  const names = Object.keys(nodes);
  const [first = ''] = names;
  const link = (to: string) => {
    const [node, input = 0] = to.split('#');
    return { node, type: 'main', index: Number(input) };
  };
  const connections = Object.fromEntries(
    names.map((name, index) => {
      const to = nodes[name]!.to ?? (index + 1 < names.length ? [[names[index + 1]!]] : []);
      return [name, { main: to.map((targets) => targets.map(link)) }];
    }),
  );
  const file = {
    nodes: [
      { name: 'Start', id: 'start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
      ...Object.entries(nodes).map(([name, { type, version = 1, parameters = {}, settings = {} }]) => {
        return { name, id: name, type: `n8n-nodes-base.${type}`, typeVersion: version, parameters, ...settings };
      }),
    ],
    connections: { Start: { main: [[link(first)]] }, ...connections },
    settings: { executionOrder: 'v1' },
  };
  const { drawing, outputs, warnings } = translateN8n(file);
  const urls: string[] = [];
  const { values, failures } = await play(drawing, {
    input: {},
    answer: (sent): NodeOutput => {
      urls.push(String(sent['url']));
      const json = answer(String(sent['url']), sent);
      return { content: JSON.stringify(json), json, status_code: 200, ...more };
    },
  });
  const of = (name: string): unknown => {
    const { json, ran } = outputs.get(name)!;
    if (renderJson(ran, values) === '') return undefined;
    const list = renderJson(json, values);
    return Array.isArray(list) ? list.flat() : list;
  };
  return { of, urls, warnings, caught: [...failures.values()], hasRun: (id: string) => values.results.has(id) };
}
