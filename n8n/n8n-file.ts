// Reads a file that n8n has exported. The file is not trusted: invalid parts are omitted and reported.
import { cutText } from '../graph/cut-text.js';
import { isContainer, isObject, ownValue, type JsonObject } from '../graph/json.js';
import { pushTo } from '../graph/push-to.js';

export interface N8nNode {
  name: string;
  /** The name as people read it, cut if it is too long. */
  label: string;
  id: unknown;
  /** The type, for example `n8n-nodes-base.httpRequest`. */
  type: string;
  /** Infinity stands for the newest version, which n8n uses for a node without a version. */
  version: number;
  parameters: JsonObject;
  x: number;
  y: number;
  isDisabled: boolean;
  /** True if the file names credentials, which n8n stores elsewhere. */
  hasCredentials: boolean;
  /** The node's entry in the file, from which settings that all types have are read, such as `onError`. */
  settings: JsonObject;
  /** True if several items were pinned to the node in n8n's editor. */
  hasPinnedItems: boolean;
}

/** A connection of the kind `main`: data flows from an output of a node to an input of another one. */
export interface N8nLink {
  from: N8nNode;
  output: number;
  to: N8nNode;
  input: number;
}

/** A connection of another kind, such as `ai_languageModel`. n8n calls a node that serves another one its sub-node. */
interface N8nSubNode {
  subNode: N8nNode;
  of: N8nNode;
  kind: string;
}

export interface N8nFile {
  title: string | undefined;
  nodes: N8nNode[];
  links: N8nLink[];
  subNodes: N8nSubNode[];
  settings: JsonObject;
  warnings: ImportWarning[];
}

const N8N_TYPE = /^(?:@[\w.-]+\/)?n8n-nodes-/;
/** The highest number of an output or an input. Nodes of n8n have fewer. */
const MAX_INDEX = 1000;
const DIGITS = /^\d{1,4}$/;
const DECIMAL = /^\d{1,4}(?:\.\d{1,4})?$/;
const MAX_LINKS = 50_000;
const MAX_LABEL = 200;
const MAX_SHOWN = 80;

export function isN8nFile(file: JsonObject): boolean {
  const nodes = ownValue(file, 'nodes');
  if (!Array.isArray(nodes)) return false;
  return nodes.some(
    (node: unknown) => isObject(node) && typeof node['type'] === 'string' && N8N_TYPE.test(node['type']),
  );
}

export function readN8nFile(file: JsonObject): N8nFile {
  const warnings: ImportWarning[] = [];
  const warn: Warn = (node, message) => {
    if (warnings.length < MAX_IMPORT_WARNINGS) warnings.push({ node, message });
  };
  const nodes = readNodes(file, warn);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const { links, subNodes } = readConnections(file['connections'], byName, warn);
  const title = textOf(file['name'])?.trim();
  return {
    title: title === '' ? undefined : title,
    nodes,
    links,
    subNodes,
    settings: objectOf(file['settings']),
    warnings,
  };
}

/** Reports on the node with the label, or on the whole file. */
type Warn = (label: string | null, message: string) => void;

function readNodes({ nodes: entries, pinData }: JsonObject, warn: Warn): N8nNode[] {
  const nodes = new Map<string, N8nNode>();
  for (const [index, entry] of listOf(entries).entries()) {
    const node = isObject(entry) ? readNode(entry, objectOf(pinData), warn) : undefined;
    if (node === undefined) {
      warn(null, `The entry at position ${index + 1} of "nodes" is no node of n8n and was left out.`);
    } else if (nodes.has(node.name)) {
      warn(node.label, 'Another node of the file has the same name. This one was left out.');
    } else nodes.set(node.name, node);
  }
  return [...nodes.values()];
}

function readNode(entry: JsonObject, pinned: JsonObject, warn: Warn): N8nNode | undefined {
  const { name, type, position, credentials, parameters, typeVersion } = entry;
  if (typeof name !== 'string' || name.trim() === '' || typeof type !== 'string') return undefined;
  const [x, y] = listOf(position);
  const label = shortened(name.trim(), MAX_LABEL);
  const version = readVersion(typeVersion);
  if (version === undefined) {
    warn(label, 'Its "typeVersion" is no version. It was read as the newest one.');
  }
  // Some tools write an empty object as an empty list.
  if (!isObject(parameters) && parameters !== undefined && parameters !== null && !isEmptyList(parameters)) {
    warn(label, 'Its "parameters" are no object and were left out.');
  }
  return {
    name,
    label,
    id: entry['id'],
    type,
    version: version ?? Infinity,
    parameters: objectOf(parameters),
    x: coordinate(x),
    y: coordinate(y),
    isDisabled: entry['disabled'] === true,
    hasCredentials: isObject(credentials) && Object.keys(credentials).length > 0,
    settings: entry,
    hasPinnedItems: listOf(ownValue(pinned, name)).length > 1,
  };
}

/**
 * Reads a number or a number in text. As in n8n, a missing or empty version and 0 stand for the newest. Returns
 * undefined for anything else.
 */
function readVersion(version: unknown): number | undefined {
  if (version === undefined || version === null || version === 0 || version === '') return Infinity;
  const number = typeof version === 'string' && DECIMAL.test(version) ? Number(version) : numberOf(version);
  return number !== undefined && number > 0 ? number : undefined;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Cuts a longer text and appends three dots. */
export function shortened(text: string, most: number): string {
  return wellFormed(text.length > most ? `${cutText(text, most)}...` : text);
}

/** Replaces halves of surrogate pairs, which neither the database nor an address can contain. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, '\uFFFD');
}

type ByName = ReadonlyMap<string, N8nNode>;

function readConnections(connections: unknown, byName: ByName, warn: Warn): Pick<N8nFile, 'links' | 'subNodes'> {
  const links = new Map<string, N8nLink>();
  const numbers = new Map([...byName.values()].map((node, number) => [node, number]));
  const subNodes: N8nSubNode[] = [];
  const missing = (name: string): string =>
    `A connection names the node "${shortened(name, MAX_LABEL)}", which the file does not have.`;
  if (!isObject(connections) && connections !== undefined && connections !== null && !isEmptyList(connections)) {
    warn(null, 'The "connections" are not in the form of n8n. No link was taken over.');
  }
  for (const [name, kinds] of Object.entries(objectOf(connections))) {
    const from = byName.get(name);
    for (const found of connectionsIn(kinds)) {
      if (from === undefined) {
        const known = 'to' in found ? byName.get(found.to) : undefined;
        warn(known?.label ?? null, missing(name));
      } else if ('odd' in found) {
        warn(from.label, `What its connections have at ${found.odd} is not in the form of n8n and was left out.`);
      } else {
        const { kind, output, input } = found;
        const to = byName.get(found.to);
        if (to === undefined) warn(from.label, missing(found.to));
        else if (links.size + subNodes.length >= MAX_LINKS)
          warn(from.label, `A connection was left out: the file has more than ${MAX_LINKS}.`);
        else if (kind !== 'main') subNodes.push({ subNode: from, of: to, kind });
        else links.set(`${numbers.get(from)}|${output}|${numbers.get(to)}|${input}`, { from, output, to, input });
      }
    }
  }
  return { links: [...links.values()], subNodes };
}

/** `odd`: the place of an invalid value. */
type Connection = { kind: string; output: number; to: string; input: number } | { odd: string };

/**
 * Reads `{<kind>: [[{node, type, index}], ...]}`, with a list for each output, or null for an output without
 * connections. n8n also accepts an object of these lists, by output number.
 */
function* connectionsIn(kinds: unknown): Generator<Connection> {
  if (!isObject(kinds)) {
    if (kinds !== null) yield { odd: 'their beginning' };
    return;
  }
  for (const [kind, outputs] of Object.entries(kinds)) {
    const place = `"${shortened(kind, MAX_SHOWN)}"`;
    if (isContainer(outputs)) {
      for (const [number, targets] of Object.entries(outputs)) yield* targetsIn(kind, number, targets);
    } else if (outputs !== null) yield { odd: place };
  }
}

function* targetsIn(kind: string, number: string, targets: unknown): Generator<Connection> {
  if (targets === null) return;
  const place = `"${shortened(kind, MAX_SHOWN)}", ${shortened(number, MAX_SHOWN)}`;
  const output = indexOf(number);
  if (output === undefined || !Array.isArray(targets)) {
    yield { odd: place };
    return;
  }
  for (const [position, target] of targets.entries()) {
    const { node, index } = objectOf(target);
    const input = indexOf(index ?? 0);
    if (typeof node === 'string' && input !== undefined) yield { kind, output, to: node, input };
    else yield { odd: `${place}, ${position}` };
  }
}

function indexOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && DIGITS.test(value) ? Number(value) : numberOf(value);
  return number !== undefined && Number.isInteger(number) && number >= 0 && number <= MAX_INDEX ? number : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectsOf(value: unknown): JsonObject[] {
  return listOf(value).filter(isObject);
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Reads a value inside nested objects. Returns undefined if one of them is missing. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((current, name) => ownValue(current, name), value);
}

/** Ids and models are either a text or an object `{__rl: true, value, mode}`. */
export function locatedValue(value: unknown): unknown {
  return isObject(value) ? value['value'] : value;
}

function coordinate(value: unknown): number {
  const number = numberOf(value) ?? 0;
  return Math.max(-100_000, Math.min(100_000, number));
}

/**
 * The action of a user that resolves a warning: to fill in a field (a dotted path in the node's data), or to create a
 * schedule or a hook.
 */
export type ImportFix = { field: string } | { schedule: string } | { hook: true };

/** A difference between the file and the drawing. `node` is null if the difference concerns the whole file. */
export interface ImportWarning {
  node: string | null;
  message: string;
  fix?: ImportFix;
}

/** Bounds the warnings of hostile files. Nobody reads more. */
export const MAX_IMPORT_WARNINGS = 1000;

export const LOOP_TYPE = 'n8n-nodes-base.splitInBatches';
export const SPLIT_OUT_TYPE = 'n8n-nodes-base.splitOut';
export const STICKY_NOTE_TYPE = 'n8n-nodes-base.stickyNote';

/** Nodes of these types process all items at once. A code node may do so, depending on its mode. */
export const itemsTypes: ReadonlySet<string> = new Set([
  LOOP_TYPE,
  SPLIT_OUT_TYPE,
  'n8n-nodes-base.merge',
  'n8n-nodes-base.aggregate',
  'n8n-nodes-base.summarize',
  'n8n-nodes-base.limit',
  'n8n-nodes-base.sort',
  'n8n-nodes-base.removeDuplicates',
  'n8n-nodes-base.compareDatasets',
  'n8n-nodes-base.itemLists',
  'n8n-nodes-base.function',
  'n8n-nodes-base.executeWorkflow',
  'n8n-nodes-base.respondToWebhook',
]);

// Below: sub-nodes, which serve other nodes as models, memories, tools or parsers.

export interface SubNodes {
  has: (node: N8nNode) => boolean;
  /** Returns the sub-nodes of a node that are connected by `kind`, and marks them as used. */
  take: (node: N8nNode, kind: string) => N8nNode[];
  unused: () => N8nNode[];
}

export function findSubNodes({ subNodes }: N8nFile): SubNodes {
  const byOwner = groupBy(subNodes, ({ of }) => of);
  const all = new Set(subNodes.map(({ subNode }) => subNode));
  const used = new Set<N8nNode>();
  return {
    has: (node) => all.has(node),
    take(node, kind) {
      const connections = (byOwner.get(node) ?? []).filter((connection) => connection.kind === kind);
      const found = new Set(connections.map(({ subNode }) => subNode));
      for (const subNode of found) used.add(subNode);
      return [...found];
    },
    unused: () => [...all].filter((subNode) => !used.has(subNode)),
  };
}

/** Groups the items of a list; each group is in the order of the list. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) pushTo(groups, keyOf(item), item);
  return groups;
}
