// The translation of one node works with this class.
import { mapLeaves, type JsonObject } from '../graph/json.js';
import type { NodeKind } from '../graph/kinds.js';
import type { Draft, DraftNode, Source, Spot } from './draft.js';
import {
  asText,
  translateJsonText,
  translateParameter,
  type Names,
  type Problem,
  type Translated,
} from './expressions.js';
import { placesOf, type Flow } from './flows.js';
import { MAX_IMPORT_WARNINGS, shortened, type ImportWarning, type N8nNode } from './n8n-file.js';
import { templateAt, wholePlace, type JsonPlace } from './json-places.js';

/** Thrown for a node that has no equivalent here. The message is the reason, without a full stop. */
export class NotTranslatable extends Error {}

/** One output of the node that a node of n8n has become. */
interface TranslatedOutput {
  sources: Source[];
  place: JsonPlace;
  /** True if other outputs of the node may be taken with this one. */
  isShared?: true;
}

export interface TranslatedNode {
  /** The node that the links into it lead to. */
  entry: string;
  /** For each number of an output in n8n: the links by which it is left, and where the data of the items stands. */
  outputs: TranslatedOutput[];
  /** The node that the settings of the node (attempts, failures) belong to; `entry` by default. */
  main?: string;
}

export interface Surroundings {
  draft: Draft;
  /** The id of the node in the drawing. */
  id: string;
  names: Omit<Names, 'json'>;
  /** The flows that reach the node, by input. */
  flows: readonly (readonly Flow[])[];
  /** The number rises from a node to those after it. */
  order: number;
  spot: Spot;
  /** The sub-nodes of the node that are connected to it by this kind of connection. */
  subNodes: (kind: string) => N8nNode[];
  /** True if the node has links to other nodes. */
  leadsOn: boolean;
  /** True if the nodes behind it are executed for each element of a list. */
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

  /** The `json` of what the node takes in. If it comes from several places, they were joined before. */
  get json(): JsonPlace {
    this.#json ??= placesOf(this.around.flows[0] ?? [])[0] ?? {
      readings: [],
      ran: '',
      order: 0,
      gap: 'nothing leads to the node',
    };
    return this.#json;
  }

  /** Replaces what `$json` is for the node when something has been put before it. */
  set json(place: JsonPlace) {
    this.#json = place;
  }

  /** The whole `json` as JSON with variables. It is null if nothing leads to the node, which does not run then. */
  get wholeJson(): unknown {
    return this.around.flows.every((flows) => flows.length === 0) ? null : this.wholeOf(this.json);
  }

  /** The whole `json` of a place. */
  wholeOf(place: JsonPlace): unknown {
    const value = templateAt(place, []);
    if (value !== undefined) return value;
    throw new NotTranslatable(`it takes in data that cannot be read: ${place.gap ?? 'no variable names it'}`);
  }

  /** The place of the value that an added set or code node gives. */
  resultPlace(id: string): JsonPlace {
    return wholePlace(`${id}.result.value`, `${id}.result.content`, this.around.order);
  }

  /**
   * Returns the place of a node that may put out several items, or none. It reports that, because n8n runs the nodes
   * behind it once for each item, and not at all if there is none.
   */
  uncertain(place: JsonPlace): JsonPlace {
    if (this.around.leadsOn) {
      this.warn(
        'n8n may put out several items here, or none, which ends the branch. Here it is one value, and what follows runs once.',
      );
    }
    return { ...place, items: 'unknown' };
  }

  /** The place of a node that makes one item of each that comes in. */
  asManyAsComeIn(place: JsonPlace): JsonPlace {
    const { items } = this.json;
    return items === undefined ? place : { ...place, items };
  }

  /** Reports that n8n runs the node once for each item if more than one may come in. */
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

  warn(message: string, node: N8nNode = this.node): void {
    if (this.#warnings.length >= MAX_IMPORT_WARNINGS) return;
    this.#warnings.push({ node: node.label, message: shortened(message, MAX_MESSAGE) });
  }

  /** Translates a parameter that is text in a drawing. */
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

  /** Translates a parameter that holds JSON as text. The result is undefined if it holds none. */
  jsonText(parameter: unknown, field: string): unknown {
    const translated = translateJsonText(parameter, this.names);
    return translated === undefined ? undefined : this.#report(translated, field).value;
  }

  #report(translated: Translated, field: string): Translated {
    for (const problem of translated.problems) this.warn(toMessage(field, problem));
    return translated;
  }

  /** Adds a drawn node. The one without a note has the name, the id and the place of the node. */
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

  /** The kind of a node that was added. */
  kindOf(id: string): NodeKind {
    const added = this.#added.find((node) => node.id === id);
    if (added === undefined) throw new Error(`The translation has not added the node ${id}.`);
    return added.kind;
  }

  /** Changes the data of a node that was added. */
  change(id: string, changes: JsonObject): void {
    const added = this.#added.find((node) => node.id === id);
    if (added !== undefined) added.data = { ...added.data, ...changes };
  }

  link(source: Source, target: string): void {
    this.#links.push([source, target]);
  }

  /** Warns, and writes everything into the drawing. */
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

/** A node that is left by its ordinary links only. */
export function oneWay(id: string, place: JsonPlace): TranslatedNode {
  return { entry: id, outputs: [{ sources: [{ id, handle: null }], place }] };
}
