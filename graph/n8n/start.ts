// The one start of the drawing, made of the triggers of the file.
import { groupBy } from './group-by.js';
import type { N8nLink, N8nNode } from './n8n-file.js';
import { wholePlace, type Place } from './places.js';
import { isTrigger, translateTrigger, type TranslatedTrigger } from './triggers.js';
import type { ImportWarning } from './import-warning.js';

export interface Start {
  /** The trigger that becomes the start; undefined where the file has none that can. */
  trigger: N8nNode | undefined;
  translated: TranslatedTrigger;
  /** Further triggers, drawn but linked to nothing that leads to them, and what they give. */
  others: { node: N8nNode; translated: TranslatedTrigger }[];
  /** What the links leave from that lead on from the start. */
  leads: ReadonlySet<N8nNode>;
  /** What the triggers give, also those that became no node. */
  places: ReadonlyMap<N8nNode, Place>;
  /** Triggers that became notes, with the reason. */
  leftOut: { node: N8nNode; reason: string }[];
  warnings: ImportWarning[];
  /** Whether the file has a trigger that is switched on. */
  hasTrigger: boolean;
}

const NO_TRIGGER: TranslatedTrigger = {
  fields: [],
  place: wholePlace('input', 'input', 0),
  warnings: [],
  rank: 0,
};

export function findStart(nodes: readonly N8nNode[], links: readonly N8nLink[]): Start {
  const followers = new Map(
    [...groupBy(links, ({ from }) => from)].map(([node, group]) => [node, new Set(group.map(({ to }) => to))]),
  );
  const start: Start = {
    trigger: undefined,
    translated: NO_TRIGGER,
    others: [],
    leads: new Set(),
    places: new Map(),
    leftOut: [],
    warnings: [],
    hasTrigger: false,
  };
  const candidates: { node: N8nNode; translated: TranslatedTrigger; leads: ReadonlySet<N8nNode> }[] = [];
  const places = new Map<N8nNode, Place>();
  const leads = new Set<N8nNode>();
  for (const node of nodes.filter(isTrigger)) {
    const translated = node.isDisabled ? undefined : translateTrigger(node);
    const ownLeads = followers.get(node) ?? new Set();
    if (node.isDisabled) start.leftOut.push({ node, reason: 'it is switched off in the file' });
    else if (translated === undefined) {
      const reason = 'it has no equivalent. Start runs over the API or by a hook, with its data as the input';
      start.leftOut.push({ node, reason });
      places.set(node, NO_TRIGGER.place);
      candidates.push({ node, translated: NO_TRIGGER, leads: ownLeads });
    } else {
      places.set(node, translated.place);
      candidates.push({ node, translated, leads: ownLeads });
    }
  }
  const [first, ...others] = candidates.toSorted((a, b) => rankOf(b) - rankOf(a));
  if (first === undefined) return { ...start, places };
  const warnings: ImportWarning[] = warningsOf(first);
  leads.add(first.node);
  for (const other of others) {
    warnings.push(...warningsOf(other));
    const isShared = [...other.leads].every((node) => first.leads.has(node));
    if (isShared || other.translated === NO_TRIGGER) continue;
    start.others.push(other);
    const message = `A workflow has one start here, "${first.node.label}". What only this trigger leads to was kept, but does not run.`;
    warnings.push({ node: other.node.label, message });
  }
  const isDrawn = first.translated !== NO_TRIGGER;
  return {
    ...start,
    trigger: isDrawn ? first.node : undefined,
    translated: first.translated,
    leads,
    places,
    warnings,
    hasTrigger: true,
  };
}

function rankOf({ translated, leads }: { translated: TranslatedTrigger; leads: ReadonlySet<N8nNode> }): number {
  return leads.size === 0 ? -1 : translated.rank === 0 ? 2 : translated.rank;
}

function warningsOf({ node, translated }: { node: N8nNode; translated: TranslatedTrigger }): ImportWarning[] {
  return translated.warnings.map((message) => ({ node: node.label, message }));
}
