// Changes files of n8n at random: any values, and the links, types and names of nodes. The results have cycles, links
// that leave a loop, and nodes of the same name.
import { isObject, type JsonObject } from '../../graph/json.js';
import { translations } from '../../n8n/translate-node.js';
import { mutateJson, toText } from '../api/fuzz/mutate-json.js';
import { createRandom, type Random } from '../api/fuzz/random.js';
import { cases } from './n8n-files.js';

const TYPES = [
  ...Object.keys(translations),
  'n8n-nodes-base.webhook',
  'n8n-nodes-base.slack',
  'n8n-nodes-base.stickyNote',
];

/** Returns the text of one changed file. The same seed gives the same text. */
export function mutatedFile(seed: number): string {
  const random = createRandom(seed);
  let file: unknown = JSON.parse(cases[seed % cases.length]!.text);
  for (let wires = random.below(6); wires > 0; wires -= 1) rewire(file as JsonObject, random);
  for (let steps = random.below(4); steps > 0; steps -= 1) file = mutateJson(file, random);
  return toText(file);
}

function rewire(file: JsonObject, random: Random): void {
  const nodes = (file['nodes'] as unknown[]).filter(isObject);
  const node = random.pick(nodes);
  const connections = (file['connections'] ??= {}) as JsonObject;
  switch (random.below(6)) {
    case 0:
    case 1:
    case 2: {
      const outputs = (((connections[String(node['name'])] ??= {}) as JsonObject)['main'] ??= []) as unknown[][];
      const output = random.below(3);
      while (outputs.length <= output) outputs.push([]);
      outputs[output]?.push({ node: random.pick(nodes)['name'], type: 'main', index: random.below(2) });
      break;
    }
    case 3:
      node['type'] = random.pick(TYPES);
      break;
    case 4:
      node['disabled'] = true;
      break;
    default:
      node['name'] = random.pick(nodes)['name'];
  }
}
