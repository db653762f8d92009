// Reads a file as n8n exports it. What is not as it should be is left out and reported; nothing is trusted.
import { isObject, ownValue, type JsonObject } from '../graph/json.js';
import { MAX_IMPORT_WARNINGS, type ImportWarning } from './import-warning.js';

export interface N8nNode {
  name: string;
  /** The name as people read it, cut where it is too long. */
  label: string;
  id: unknown;
  /** For example `n8n-nodes-base.httpRequest`. */
  type: string;
  version: number;
  parameters: JsonObject;
  x: number;
  y: number;
  isDisabled: boolean;
  /** Whether the file names credentials, which n8n keeps elsewhere. */
  hasCredentials: boolean;
  /** The settings that n8n has for every node. */
  settings: JsonObject;
  /** Whether several items were pinned to the node in n8n's editor. */
  hasPinnedItems: boolean;
}

/** A connection of the kind `main`: data flows from an output of a node to an input of another one. */
export interface N8nLink {
  from: N8nNode;
  output: number;
  to: N8nNode;
  input: number;
}

/** A connection of another kind, for example `ai_languageModel`: n8n calls a node that serves another one its sub-node. */
export interface N8nSubNode {
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
/** An output or input with a higher number does not exist in n8n either. */
const MAX_INDEX = 1000;
const MAX_LINKS = 50_000;
const MAX_LABEL = 200;

/** Returns whether a file that names no format is one of n8n. */
export function isN8nFile(file: JsonObject): boolean {
  const nodes = ownValue(file, 'nodes');
  if (!Array.isArray(nodes)) return false;
  return nodes.some(
    (node: unknown) => isObject(node) && typeof node['type'] === 'string' && N8N_TYPE.test(node['type']),
  );
}

export function readN8nFile(file: JsonObject): N8nFile {
  const warnings: ImportWarning[] = [];
  const nodes = readNodes(file, warnings);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const { links, subNodes } = readConnections(file['connections'], byName, warnings);
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

function readNodes({ nodes: entries, pinData }: JsonObject, warnings: ImportWarning[]): N8nNode[] {
  const nodes = new Map<string, N8nNode>();
  for (const [index, entry] of listOf(entries).entries()) {
    const node = isObject(entry) ? readNode(entry, objectOf(pinData)) : undefined;
    if (node === undefined) {
      const message = `The entry at position ${index + 1} of "nodes" is no node of n8n and was left out.`;
      warnings.push({ node: null, message });
    } else if (nodes.has(node.name)) {
      const message = 'Another node of the file has the same name. This one was left out.';
      warnings.push({ node: node.label, message });
    } else nodes.set(node.name, node);
  }
  return [...nodes.values()];
}

function readNode(entry: JsonObject, pinned: JsonObject): N8nNode | undefined {
  const { name, type, position, credentials } = entry;
  if (typeof name !== 'string' || name.trim() === '' || typeof type !== 'string') return undefined;
  const [x, y] = listOf(position);
  return {
    name,
    label: cutText(name.trim(), MAX_LABEL),
    id: entry['id'],
    type,
    version: numberOf(entry['typeVersion']) ?? 1,
    parameters: objectOf(entry['parameters']),
    x: coordinate(x),
    y: coordinate(y),
    isDisabled: entry['disabled'] === true,
    hasCredentials: isObject(credentials) && Object.keys(credentials).length > 0,
    settings: entry,
    hasPinnedItems: listOf(ownValue(pinned, name)).length > 1,
  };
}

/** Cuts a longer text to so many characters and adds three dots. */
export function cutText(text: string, most: number): string {
  const characters = Array.from(text.slice(0, 2 * most));
  const isCut = text.length > 2 * most || characters.length > most;
  const shown = isCut ? `${characters.slice(0, most).join('')}...` : text;
  return wellFormed(shown);
}

/** Replaces halves of characters, which neither the database nor an address can hold. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, '\uFFFD');
}

type ByName = ReadonlyMap<string, N8nNode>;

function readConnections(
  connections: unknown,
  byName: ByName,
  warnings: ImportWarning[],
): Pick<N8nFile, 'links' | 'subNodes'> {
  const links = new Map<string, N8nLink>();
  const numbers = new Map([...byName.values()].map((node, number) => [node, number]));
  const subNodes: N8nSubNode[] = [];
  for (const [name, kinds] of Object.entries(objectOf(connections))) {
    const from = byName.get(name);
    for (const { kind, output, target } of targetsIn(kinds)) {
      const to = byName.get(textOf(target['node']) ?? '');
      if (from === undefined || to === undefined) {
        const missing = from === undefined ? name : textOf(target['node']);
        const message = `A connection names the node "${cutText(missing ?? '', MAX_LABEL)}", which the file does not have.`;
        if (warnings.length < MAX_IMPORT_WARNINGS) warnings.push({ node: from?.label ?? to?.label ?? null, message });
        continue;
      }
      if (kind !== 'main') {
        if (subNodes.length < MAX_LINKS) subNodes.push({ subNode: from, of: to, kind });
        continue;
      }
      const input = numberOf(target['index']) ?? 0;
      if (output > MAX_INDEX || input < 0 || input > MAX_INDEX || links.size >= MAX_LINKS) continue;
      links.set(`${numbers.get(from)}|${output}|${numbers.get(to)}|${input}`, { from, output, to, input });
    }
  }
  return { links: [...links.values()], subNodes };
}

/** The form is `{<kind>: [[{node, type, index}], ...]}`, a list for each output. */
function* targetsIn(kinds: unknown): Generator<{ kind: string; output: number; target: JsonObject }> {
  for (const [kind, outputs] of Object.entries(objectOf(kinds))) {
    for (const [output, targets] of listOf(outputs).entries()) {
      for (const target of listOf(targets)) if (isObject(target)) yield { kind, output, target };
    }
  }
}

export function listOf(value: unknown): readonly unknown[] {
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

/** Reads a value inside objects; undefined where one of them is missing. */
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
