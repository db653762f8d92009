// Sets the output of loops, which is the final output of their bodies.
import { NodeTranslation, type Surroundings } from './node-translation.js';
import type { Draft } from './draft.js';
import { placesOf, type Flow } from './flows.js';
import type { N8nNode } from './n8n-file.js';
import type { Loops } from './loops.js';
import { addJunction } from './merge.js';
import { templateAt } from './json-places.js';

interface Made {
  draft: Draft;
  idOf: (node: N8nNode) => string;
  /** True if the node was translated. */
  isThere: (node: N8nNode) => boolean;
  flowsOf: (node: N8nNode, output: number) => readonly Flow[];
  around: (node: N8nNode) => Surroundings;
}

export function closeBodies({ loops }: Loops, made: Made): void {
  for (const [node, { back }] of loops) {
    if (!made.isThere(node)) continue;
    const flows = back.flatMap(({ from, output }) => made.flowsOf(from, output));
    const output = outputOf(node, flows, made);
    if (output !== undefined) {
      made.draft.change(made.idOf(node), { output });
      continue;
    }
    const message =
      'What its loop gives cannot be read, because nodes of the loop were left out. Here the items themselves come back.';
    made.around(node).warnings.push({ node: node.label, message });
    made.draft.change(made.idOf(node), { output: `{{ ${made.idOf(node)}.item }}` });
  }
}

/** Returns the data with which the body leads back to its loop node, or undefined if the data cannot be read. */
function outputOf(node: N8nNode, flows: readonly Flow[], made: Made): unknown {
  const places = placesOf(flows);
  if (places.length < 2 || places.some(({ readings }) => readings.length === 0)) {
    return places.length === 1 ? templateAt(places[0]!, []) : undefined;
  }
  const at = new NodeTranslation(node, made.around(node));
  const { entry, outputs } = addJunction(at, flows, 'end of a round');
  for (const { source } of flows) at.link(source, entry);
  at.commit();
  return templateAt(outputs[0]!.place, []);
}
