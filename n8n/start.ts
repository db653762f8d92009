// The one start of the drawing, made of the triggers of the file.
import { groupBy } from './group-by.js';
import type { N8nLink, N8nNode } from './n8n-file.js';
import { wholePlace, type Place } from './places.js';
import { isTrigger, translateTrigger, type TranslatedTrigger } from './triggers.js';
import type { ImportWarning } from './import-warning.js';

export interface Start {
  /** The trigger that a run starts from, drawn or not; undefined where the file has none that is switched on. */
  first: N8nNode | undefined;
  /** `first`, where it has an equivalent: it is drawn as the start. */
  drawn: N8nNode | undefined;
  /** The fields of the start, and what it gives. */
  translated: TranslatedTrigger;
  /** Further triggers. They are drawn with the nodes that only they lead to, which do not run. */
  others: { node: N8nNode; translated: TranslatedTrigger }[];
  /** What the triggers give, also those that became no node. */
  places: ReadonlyMap<N8nNode, Place>;
  /** Triggers that became notes, with the reason. */
  leftOut: { node: N8nNode; reason: string }[];
  warnings: ImportWarning[];
}

interface Candidate {
  node: N8nNode;
  translated: TranslatedTrigger;
  followers: ReadonlySet<N8nNode>;
}

/** Stands for a trigger without an equivalent, and for the start of a file without triggers. */
const NO_TRIGGER: TranslatedTrigger = {
  fields: [],
  place: wholePlace('input', 'input', 0),
  warnings: [],
  rank: 2,
};

export function findStart(nodes: readonly N8nNode[], links: readonly N8nLink[]): Start {
  const outgoing = groupBy(links, ({ from }) => from);
  const candidates: Candidate[] = [];
  const leftOut: Start['leftOut'] = [];
  for (const node of nodes.filter(isTrigger)) {
    if (node.isDisabled) {
      leftOut.push({ node, reason: 'it is switched off in the file' });
      continue;
    }
    const translated = translateTrigger(node);
    if (translated === undefined) {
      const reason = 'it has no equivalent. Start runs over the API or by a hook, with its data as the input';
      leftOut.push({ node, reason });
    }
    const followers = new Set((outgoing.get(node) ?? []).map(({ to }) => to));
    candidates.push({ node, translated: translated ?? NO_TRIGGER, followers });
  }
  const ranked = candidates.toSorted((a, b) => rankOf(b) - rankOf(a));
  const [first, ...rest] = ranked;
  const others = rest.filter(
    ({ translated, followers }) =>
      translated !== NO_TRIGGER && [...followers].some((node) => !first!.followers.has(node)),
  );
  const warnings = ranked.flatMap((candidate): ImportWarning[] => {
    const { node, translated } = candidate;
    const oneStart = `A workflow has one start here, "${first!.node.label}". What only this trigger leads to was kept, but does not run.`;
    const messages = others.includes(candidate) ? [...translated.warnings, oneStart] : translated.warnings;
    return messages.map((message) => ({ node: node.label, message }));
  });
  return {
    first: first?.node,
    drawn: first?.translated === NO_TRIGGER ? undefined : first?.node,
    translated: first?.translated ?? NO_TRIGGER,
    others,
    places: new Map(candidates.map(({ node, translated }) => [node, translated.place])),
    leftOut,
    warnings,
  };
}

/** A trigger that leads to nothing is the last choice. */
function rankOf({ translated, followers }: Candidate): number {
  return followers.size === 0 ? -1 : translated.rank;
}
