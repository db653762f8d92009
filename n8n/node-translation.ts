// The state of one node's translation: the nodes and links for the drawing, and the warnings, which all take effect
// with `commit`.
import { mapLeaves, type JsonObject } from '../graph/json.js';
import { traitsOf, type NodeKind } from '../graph/kinds.js';
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
import type { JavaScript } from './javascript.js';
import { MAX_IMPORT_WARNINGS, shortened, type ImportFix, type ImportWarning, type N8nNode } from './n8n-file.js';
import { canBeComputed, JsonText } from './parameter-code.js';
import { rowOf, templateAt, wholePlace, type JsonPlace } from './json-places.js';

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
  /** The drawn node that is retried, if it is not `main`. */
  called?: string;
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
  /** True if something follows the output with this number. */
  leadsOn: (output: number) => boolean;
  /** True if the file says that branches are executed one after the other (n8n's execution order v1). */
  isNewOrder: boolean;
  /** The number of loops in whose rounds the node is executed. */
  loopsAround: number;
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

  /**
   * The place of the incoming items' `json`. If the node reads data from several places, that has already been joined;
   * else this is the latest place of the first input.
   */
  get json(): JsonPlace {
    this.#json ??= placesOf(this.around.flows[0] ?? [])[0] ?? {
      readings: [],
      ran: '',
      order: 0,
      gap: 'nothing leads to the node',
    };
    return this.#json;
  }

  /** Replaces the place of `$json`, for example after a node was inserted before this one. */
  set json(place: JsonPlace) {
    this.#json = place;
  }

  /** The whole `json` as JSON with variables. Null if no link leads to the node, which then doesn't run. */
  get wholeJson(): unknown {
    return this.around.flows.every((flows) => flows.length === 0) ? null : this.wholeOf(this.json);
  }

  /**
   * Returns the whole `json` for code. Data that cannot be read becomes one empty item, with a warning. There is no
   * warning if n8n always outputs exactly one item there and the code reads nothing of that item.
   */
  itemsForCode(isRead: boolean): unknown {
    const isReadable =
      this.around.flows.every((flows) => flows.length === 0) || templateAt(this.json, []) !== undefined;
    if (isReadable) return this.wholeJson;
    if (!isRead && this.json.items === undefined && this.json.isOneUnread === true) return {};
    this.warn(
      `It takes in data that cannot be read: ${this.json.gap ?? 'no variable names it'}. Here it gets one empty item.`,
    );
    return {};
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
   * Returns the place of the incoming items, for a node that passes them on. `field` of the added node's result shows
   * that the added node has run: choose a field that is never empty, and small if possible, because joins get its
   * value. An empty `field` is the whole result.
   */
  passedOn(id: string, field = 'content'): JsonPlace {
    return { ...this.json, ran: `${id}.result${field === '' ? '' : `.${field}`}` };
  }

  /** Returns the place of a node's items. Throws `NotTranslatable` if there is none. */
  placeOf(name: string): JsonPlace {
    const place = this.around.names.node(name);
    if (typeof place === 'string') throw new NotTranslatable(`it reads data that is not there: ${place}`);
    return place;
  }

  /** Returns the reason why the JavaScript cannot read what it names, undefined if it can. Warns of paired items. */
  unreadable({ names, nodes, paired, firstOutputs }: JavaScript): string | undefined {
    if (names.has('$execution') && this.names.callbackUrl === undefined)
      return 'it is not certain which wait it belongs to';
    if (names.has('$runIndex') && this.around.loopsAround > 0) return 'rounds of a loop have no number here';
    for (const name of nodes) {
      const place = this.around.names.node(name, firstOutputs.has(name) ? 0 : undefined);
      if (typeof place === 'string') return place;
      if (templateAt(place, []) === undefined) return place.gap ?? 'no variable names its data';
      if (paired.has(name)) this.#warnOfPairs(name, place);
    }
    return undefined;
  }

  /** Warns of a difference: n8n records from which item each item was made, but here the position decides. */
  #warnOfPairs(name: string, place: JsonPlace): void {
    if (place.items === undefined || rowOf(place) === rowOf(this.json)) return;
    this.warn(`n8n reads the item of "${name}" from which an item was made. Here it is the one at the same position.`);
  }

  get names(): Names {
    return { ...this.around.names, json: this.json };
  }

  warn(message: string, node: N8nNode = this.node, fix?: ImportFix): void {
    if (this.#warnings.length >= MAX_IMPORT_WARNINGS) return;
    this.#warnings.push({ node: node.label, message: shortened(message, MAX_MESSAGE), ...(fix && { fix }) });
  }

  /** The parameters that a code node before this node computes, by the name of their result. */
  readonly prepared = new Map<string, unknown>();
  /** The variable that holds the prepared parameters. */
  preparedAt = '';
  /** True if the node is executed for each of several items. */
  isForEach = false;
  /** The id of the code node that computes the prepared parameters, if they are computed once. */
  preparedId: string | undefined;

  /** Lets a code node compute the parameter, if the sandbox can. Returns the variable with its value. */
  #prepare(parameter: unknown, how: 'value' | 'json'): string | undefined {
    if (typeof parameter !== 'string' || !canBeComputed(this, parameter)) return undefined;
    if (this.preparedAt === '') {
      this.preparedId = this.around.draft.newId(`${this.around.id}-parameters`);
      this.preparedAt = `${this.preparedId}.result.value`;
    }
    const name = `p${this.prepared.size + 1}`;
    this.prepared.set(name, how === 'json' ? new JsonText(parameter, true) : parameter);
    return `{{ ${this.preparedAt}.${name} }}`;
  }

  /** Lets a code node compute the expression, if the sandbox can. Returns the variable with its value. */
  computed(expression: string): string | undefined {
    return this.#prepare(expression, 'value');
  }

  #translate(parameter: unknown, field: string): unknown {
    const translated = translateParameter(parameter, this.names);
    if (translated.problems.length === 0) return translated.value;
    const isExpression = typeof parameter === 'string' && parameter.startsWith('=');
    const prepared = isExpression ? this.#prepare(parameter, 'value') : undefined;
    return prepared ?? this.#report(translated, field).value;
  }

  text(parameter: unknown, field: string): string {
    const value = this.#translate(parameter, field);
    if (typeof value !== 'object' || value === null) return asText(value);
    this.warn(`${field}: it gives several values, which no text holds. It was left empty.`);
    return '';
  }

  /** Translates a parameter that may be any JSON, with expressions at any depth. */
  value(parameter: unknown, field: string): unknown {
    return mapLeaves(parameter, (leaf) => this.#translate(leaf, field));
  }

  /**
   * Translates a parameter that contains JSON as text. Returns undefined if the text isn't JSON and no code node can
   * compute the parameter.
   */
  jsonText(parameter: unknown, field: string): unknown {
    const translated = translateJsonText(parameter, this.names);
    if (translated !== undefined && translated.problems.length === 0) return translated.value;
    const isExpression = typeof parameter === 'string' && parameter.startsWith('=');
    const prepared = isExpression ? this.#prepare(parameter, 'json') : undefined;
    return prepared ?? (translated === undefined ? undefined : this.#report(translated, field).value);
  }

  warnOfExpression(field: string, problem: Problem): void {
    this.warn(toMessage(field, problem));
  }

  #report(translated: Translated, field: string): Translated {
    for (const problem of translated.problems) this.warnOfExpression(field, problem);
    return translated;
  }

  /** Adds a drawn node and returns its id. If there is no note, it gets the label, id and position of n8n's node. */
  add(kind: NodeKind, data: JsonObject, note?: string, newId?: string): string {
    const { draft, id: own, spot } = this.around;
    const { label } = this.node;
    if (note === undefined) {
      this.#added.push({ id: own, kind, data: { label, ...data }, spot });
      return own;
    }
    const extra = this.#added.filter(({ id }) => id !== own).length + 1;
    const id = newId ?? draft.newId(`${own}-${extra}`);
    const beside = { x: spot.x - 40 * extra, y: spot.y + 90 * extra };
    this.#added.push({ id, kind, data: { label: `${label} (${note})`, ...data }, spot: beside });
    return id;
  }

  /** True if one of the added nodes has a body. */
  get hasBody(): boolean {
    return this.#added.some(({ kind }) => traitsOf(kind).runs === 'body');
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
