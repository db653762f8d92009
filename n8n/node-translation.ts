// The state of one node's translation: what it adds to the drawing, and its warnings. Nothing takes effect before
// `commit`.
import { mapLeaves, type JsonObject } from '../graph/json.js';
import type { NodeKind } from '../graph/kinds.js';
import type { Draft, DraftNode, Source } from './draft.js';
import type { Spot } from './spread.js';
import {
  asText,
  translateJsonText,
  translateParameter,
  type Names,
  type Problem,
  type Translated,
} from './expressions.js';
import { placesOf, type Flow } from './flows.js';
import { MAX_IMPORT_WARNINGS, shortened, type ImportFix, type ImportWarning, type N8nNode } from './n8n-file.js';
import { templateAt, wholePlace, type JsonPlace } from './json-places.js';

/** Thrown for a node without an equivalent. The message is the reason, without a full stop. */
export class NotTranslatable extends Error {}

interface TranslatedOutput {
  sources: Source[];
  place: JsonPlace;
  /** True if other outputs of the node may be taken together with this one. */
  isShared?: true;
}

export interface TranslatedNode {
  /** The drawn node that the incoming links lead to. */
  entry: string;
  /** The links that leave the node and the place of the items' data, by the number of n8n's output. */
  outputs: TranslatedOutput[];
  /** The drawn node that gets the settings for retries and failures. `entry` by default. */
  main?: string;
}

export interface Surroundings {
  draft: Draft;
  id: string;
  names: Omit<Names, 'json'>;
  /** The flows that reach the node, by input. */
  flows: readonly (readonly Flow[])[];
  /** Rises from a node to its successors. */
  order: number;
  spot: Spot;
  /** Returns the node's sub-nodes that are connected by `kind`. */
  subNodes: (kind: string) => N8nNode[];
  leadsOn: boolean;
  /** True if the nodes after it are executed for each element of a list. */
  isSplit: boolean;
  warnings: ImportWarning[];
}

const MAX_SHOWN = 80;
const MAX_MESSAGE = 500;

export class NodeTranslation {
  readonly node: N8nNode;
  readonly around: Surroundings;
  readonly #added: DraftNode[] = [];
  readonly #links: [source: Source, target: string][] = [];
  readonly #warnings: ImportWarning[] = [];
  #json: JsonPlace | undefined;

  constructor(node: N8nNode, around: Surroundings) {
    this.node = node;
    this.around = around;
  }

  get parameters(): JsonObject {
    return this.node.parameters;
  }

  /** The place of the incoming items' `json`. Data from several places has already been joined. */
  get json(): JsonPlace {
    this.#json ??= placesOf(this.around.flows[0] ?? [])[0] ?? {
      readings: [],
      ran: '',
      order: 0,
      gap: 'nothing leads to the node',
    };
    return this.#json;
  }

  /** Replaces the place of `$json` after a node was inserted before this one. */
  set json(place: JsonPlace) {
    this.#json = place;
  }

  /** The whole `json` as JSON with variables. Null if no link leads to the node, which then doesn't run. */
  get wholeJson(): unknown {
    return this.around.flows.every((flows) => flows.length === 0) ? null : this.wholeOf(this.json);
  }

  /** Returns the whole `json` of a place as JSON with variables. Throws `NotTranslatable` if no variable names it. */
  wholeOf(place: JsonPlace): unknown {
    const value = templateAt(place, []);
    if (value !== undefined) return value;
    throw new NotTranslatable(`it takes in data that cannot be read: ${place.gap ?? 'no variable names it'}`);
  }

  /** Returns the place of the value that an added set or code node produces. */
  resultPlace(id: string): JsonPlace {
    return wholePlace(`${id}.result.value`, `${id}.result.content`, this.around.order);
  }

  /**
   * Returns the place of a node that may output several items or none. Warns, because n8n runs the following nodes once
   * for each item, and not at all if there is none.
   */
  uncertain(place: JsonPlace): JsonPlace {
    if (this.around.leadsOn) {
      this.warn(
        'n8n may put out several items here, or none, which ends the branch. Here it is one value, and what follows runs once.',
      );
    }
    return { ...place, items: 'unknown' };
  }

  /** Returns the place of a node that outputs one item for each incoming one. */
  asManyAsComeIn(place: JsonPlace): JsonPlace {
    const { items } = this.json;
    return items === undefined ? place : { ...place, items };
  }

  /** Warns that n8n runs the node once for each item, if more than one may come in. */
  warnOfItems(): void {
    const { items } = this.json;
    if (items === undefined) return;
    this.warn(
      items === 'several'
        ? 'n8n does this for each of several items. Here it is done once, for the whole list.'
        : 'n8n does this for each item that comes in, and there may be several or none. Here it is done once, for the whole value.',
    );
  }

  get names(): Names {
    return { ...this.around.names, json: this.json };
  }

  warn(message: string, node: N8nNode = this.node, fix?: ImportFix): void {
    if (this.#warnings.length >= MAX_IMPORT_WARNINGS) return;
    this.#warnings.push({ node: node.label, message: shortened(message, MAX_MESSAGE), ...(fix && { fix }) });
  }

  text(parameter: unknown, field: string): string {
    const { value } = this.#report(translateParameter(parameter, this.names), field);
    if (typeof value !== 'object' || value === null) return asText(value);
    this.warn(`${field}: it gives several values, which no text holds. It was left empty.`);
    return '';
  }

  /** Translates a parameter that may be any JSON, with expressions at any depth. */
  value(parameter: unknown, field: string): unknown {
    return mapLeaves(parameter, (leaf) => this.#report(translateParameter(leaf, this.names), field).value);
  }

  /** Translates a parameter that contains JSON as text. Returns undefined if it isn't JSON. */
  jsonText(parameter: unknown, field: string): unknown {
    const translated = translateJsonText(parameter, this.names);
    return translated === undefined ? undefined : this.#report(translated, field).value;
  }

  #report(translated: Translated, field: string): Translated {
    for (const problem of translated.problems) this.warn(toMessage(field, problem));
    return translated;
  }

  /** Adds a drawn node and returns its id. If there is no note, it gets the label, id and position of n8n's node. */
  add(kind: NodeKind, data: JsonObject, note?: string): string {
    const { draft, id: own, spot } = this.around;
    const { label } = this.node;
    if (note === undefined) {
      this.#added.push({ id: own, kind, data: { label, ...data }, spot });
      return own;
    }
    const extra = this.#added.filter(({ id }) => id !== own).length + 1;
    const id = draft.newId(`${own}-${extra}`);
    const beside = { x: spot.x - 40 * extra, y: spot.y + 90 * extra };
    this.#added.push({ id, kind, data: { label: `${label} (${note})`, ...data }, spot: beside });
    return id;
  }

  kindOf(id: string): NodeKind {
    const added = this.#added.find((node) => node.id === id);
    if (added === undefined) throw new Error(`The translation has not added the node ${id}.`);
    return added.kind;
  }

  change(id: string, changes: JsonObject): void {
    const added = this.#added.find((node) => node.id === id);
    if (added !== undefined) added.data = { ...added.data, ...changes };
  }

  link(source: Source, target: string): void {
    this.#links.push([source, target]);
  }

  /** Adds the nodes, links and warnings to the drawing. */
  commit(): void {
    const { draft, warnings } = this.around;
    for (const node of this.#added) draft.add(node);
    for (const [source, target] of this.#links) draft.link(source, target);
    warnings.push(...this.#warnings);
  }
}

function toMessage(field: string, { expression, reason }: Problem): string {
  const where = shortened(field, MAX_SHOWN);
  return `${where}: the expression "${shortened(expression, MAX_SHOWN)}" was kept as text: ${reason}.`;
}

/** Returns a translated node that is left only by its ordinary links. */
export function oneWay(id: string, place: JsonPlace): TranslatedNode {
  return { entry: id, outputs: [{ sources: [{ id, handle: null }], place }] };
}
