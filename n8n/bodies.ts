// Sets the output of loops, which is the final output of their bodies.
import { NodeTranslation, type Surroundings } from './node-translation.js';
import { fromEntries, type Draft } from './draft.js';
import { placesOf, type Flow } from './flows.js';
import { groupBy, type N8nNode } from './n8n-file.js';
import type { Loops } from './loops.js';
import { addJunction } from './merge.js';
import { templateAt, type JsonPlace } from './json-places.js';

interface Made {
  draft: Draft;
  idOf: (node: N8nNode) => string;
  /** True if the node was translated. */
  isThere: (node: N8nNode) => boolean;
  flowsOf: (node: N8nNode, output: number) => readonly Flow[];
  around: (node: N8nNode) => Surroundings;
}

export function closeBodies({ loops, regions, links }: Loops, made: Made): void {
  for (const [node, { back }] of loops) {
    if (!made.isThere(node)) continue;
    const flows = back.flatMap(({ from, output }) => made.flowsOf(from, output));
    made.draft.change(made.idOf(node), { output: outputOf(node, flows, made) });
  }
  const outgoing = groupBy(links, ({ from }) => from);
  for (const [node, region] of regions) {
    if (!made.isThere(node)) continue;
    const followersOf = (member: N8nNode): N8nNode[] => (outgoing.get(member) ?? []).map(({ to }) => to);
    const ends = [...region].filter((member) => made.isThere(member) && !leadsOn(member, followersOf, made));
    const outputs = ends.flatMap((end): [string, unknown][] => {
      const place = made.flowsOf(end, 0)[0]?.place;
      return place === undefined ? [] : [[end.label, templateOf(place)]];
    });
    // Where everything behind the list was left out, the items themselves come back.
    const output =
      outputs.length === 0 ? itemOf(node, made) : outputs.length === 1 ? outputs[0]![1] : fromEntries(outputs);
    made.draft.change(made.idOf(node), { output });
  }
}

/** Returns the data that came back to the node that divides the items. */
function outputOf(node: N8nNode, flows: readonly Flow[], made: Made): unknown {
  const places = placesOf(flows);
  if (places.length < 2 || places.some(({ readings }) => readings.length === 0)) {
    return (places.length === 1 ? templateAt(places[0]!, []) : undefined) ?? itemOf(node, made);
  }
  const at = new NodeTranslation(node, made.around(node));
  const { entry, outputs } = addJunction(at, flows, 'end of a round');
  for (const { source } of flows) at.link(source, entry);
  at.commit();
  return templateOf(outputs[0]!.place);
}

/** True if a node that was translated follows, directly or behind nodes that were left out. */
function leadsOn(node: N8nNode, followersOf: (node: N8nNode) => N8nNode[], { isThere }: Made): boolean {
  const met = new Set(followersOf(node));
  for (const next of met) {
    if (isThere(next)) return true;
    for (const follower of followersOf(next)) met.add(follower);
  }
  return false;
}

function itemOf(node: N8nNode, { idOf }: Made): string {
  return `{{ ${idOf(node)}.item }}`;
}

/** Returns null for a place that cannot be read. */
function templateOf(place: JsonPlace): unknown {
  return templateAt(place, []) ?? null;
}
