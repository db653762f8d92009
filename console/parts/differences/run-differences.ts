// Computes the differences between two runs of a workflow: input, definition, outcome, cost, time, and each node.
import { isEqualJson, isObject, ownValue, type JsonObject } from '../../../graph/json.js';
import { objectsOf, parseStructure } from '../../ui/json.js';
import type { NodeEntry } from '../../live/live-run.js';
import { statusOf } from '../../live/node-status.js';
import { runWord, type StoredStatus } from '../../live/run-word.js';

/** The compared parts of a run. */
export interface ComparedRun {
  status: StoredStatus;
  run_started_at: string | null;
  duration: number | null;
  cost: Readonly<Record<string, string>>;
  error: { code: string; message: string } | null;
  /** Null for a test run of an unsaved drawing, and for a run of the assistant in the editor. */
  workflow_version: number | null;
  input_data?: unknown;
  data: JsonObject;
  result: Readonly<Record<string, NodeEntry>>;
}

interface NodeDifference {
  id: string;
  label: string;
  differences: readonly Difference[];
}

interface RunDifferences {
  input: readonly Difference[];
  definition: readonly Difference[];
  /** Status and error of the runs. */
  outcome: readonly Difference[];
  cost: readonly Difference[];
  /** Durations in seconds. */
  time: readonly Difference[];
  nodes: readonly NodeDifference[];
}

/**
 * Durations of nodes always differ a little. A difference is ignored if it is below this fraction of the longer
 * duration, or below this time. `compareRuns` compares the durations of the runs exactly.
 */
const NOTABLE_PART = 0.2;
const NOTABLE_MS = 100;

export function compareRuns(left: ComparedRun, right: ComparedRun): RunDifferences {
  return {
    input: jsonDifferences(left.input_data, right.input_data),
    definition: compareDefinitions(left, right),
    outcome: jsonDifferences(outcomeOf(left), outcomeOf(right)),
    cost: jsonDifferences(left.cost, right.cost),
    time: jsonDifferences({ duration: left.duration }, { duration: right.duration }),
    nodes: compareNodes(left, right),
  };
}

function outcomeOf(run: ComparedRun): object {
  return { status: runWord(run), ...(run.error === null ? {} : { error: run.error }) };
}

function compareDefinitions(left: ComparedRun, right: ComparedRun): Difference[] {
  const version = jsonDifferences({ version: left.workflow_version }, { version: right.workflow_version });
  return [...version, ...compareDrawings(left.data, right.data)];
}

/** Compares nodes, links and settings, without layout, notes and remarks. Nodes with unique labels match by label. */
export function compareDrawings(left: JsonObject, right: JsonObject): Difference[] {
  return jsonDifferences(contentOf(left), contentOf(right));
}

function contentOf(drawing: JsonObject): JsonObject {
  const { nodes, edges, viewport: _viewport, notes: _notes, remarks: _remarks, ...rest } = drawing;
  const labels = labelsOf(drawing);
  const named = objectsOf(nodes).map(
    (node) => [nameOf(String(node['id']), labels), pick(node, ['type', 'data'])] as const,
  );
  const links = objectsOf(edges).map((edge) => {
    const handle = edge['sourceHandle'];
    const ends = [edge['source'], edge['target']].map((id) => nameOf(String(id), labels));
    return [`${ends.join(' to ')}${typeof handle === 'string' ? ` (${handle})` : ''}`, 'drawn'] as const;
  });
  return { ...rest, nodes: Object.fromEntries(named), links: Object.fromEntries(links) };
}

/**
 * Labels may be ambiguous, and ids mean nothing to people. An id is shortened only where its first characters tell the
 * nodes of the label apart, so that no two nodes have one name.
 */
function nameOf(id: string, labels: ReadonlyMap<string, string>): string {
  const label = labels.get(id);
  if (label === undefined) return id;
  const short = id.slice(0, 8);
  const others = [...labels].filter(([other, text]) => other !== id && text === label).map(([other]) => other);
  if (others.length === 0) return label;
  return `${label} ${others.some((other) => other.startsWith(short)) ? id : short}`;
}

function compareNodes(left: ComparedRun, right: ComparedRun): NodeDifference[] {
  const labels = new Map([...labelsOf(right.data), ...labelsOf(left.data)]);
  const ids = [...new Set([...Object.keys(left.result), ...Object.keys(right.result)])];
  return ids
    .map((id) => {
      const [before, after] = [entryOf(left, id), entryOf(right, id)];
      const differences = [...jsonDifferences(partsOf(before), partsOf(after)), ...compareTimes(before, after)];
      return { id, label: labels.get(id) ?? id, differences };
    })
    .filter(({ differences }) => differences.length > 0);
}

/** Content that is JSON text is compared as JSON. */
function partsOf(entry: NodeEntry | undefined): object {
  if (entry === undefined) return { status: 'not run' };
  const { result, error } = entry;
  const content = ownValue(result, 'content');
  const structure = typeof content === 'string' ? parseStructure(content) : undefined;
  const shown = isObject(result) && structure !== undefined ? { ...result, content: structure } : result;
  return {
    status: statusOf(entry),
    ...(shown === undefined ? {} : { result: shown }),
    ...(error === undefined ? {} : { error }),
  };
}

function compareTimes(left: NodeEntry | undefined, right: NodeEntry | undefined): Difference[] {
  const [before, after] = [durationMs(left), durationMs(right)];
  if (before === undefined || after === undefined) return [];
  const apart = Math.abs(before - after);
  if (apart < NOTABLE_MS || apart < NOTABLE_PART * Math.max(before, after)) return [];
  return [{ path: 'duration', left: before / 1000, right: after / 1000 }];
}

function durationMs(entry: NodeEntry | undefined): number | undefined {
  const { started_at: startedAt, finished_at: finishedAt } = entry ?? {};
  if (typeof startedAt !== 'string' || typeof finishedAt !== 'string') return undefined;
  return Date.parse(finishedAt) - Date.parse(startedAt);
}

function labelsOf(drawing: JsonObject): Map<string, string> {
  return new Map(
    objectsOf(drawing['nodes']).map((node) => {
      const label = ownValue(node['data'], 'label');
      return [String(node['id']), typeof label === 'string' && label !== '' ? label : String(node['id'])];
    }),
  );
}

function entryOf({ result }: ComparedRun, id: string): NodeEntry | undefined {
  return ownValue(result, id) as NodeEntry | undefined;
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => keys.includes(key)));
}

// Differences between two JSON values.

export interface Difference {
  /** Path of the difference: `customer.name`, `items[3]`; empty for the whole value. */
  path: string;
  /** Undefined if this side lacks the value. */
  left: unknown;
  right: unknown;
}

/**
 * Returns the innermost differing paths, in the order of the left value. Ignores the order of keys, but not
 * that of list items.
 */
export function jsonDifferences(left: unknown, right: unknown, path = ''): Difference[] {
  if (left === right || isEqual(left, right)) return [];
  if (isObject(left) && isObject(right)) {
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    return keys.flatMap((key) => jsonDifferences(ownValue(left, key), ownValue(right, key), join(path, key)));
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    const length = Math.max(left.length, right.length);
    return Array.from({ length }, (_, index) =>
      jsonDifferences(ownValue(left, index), ownValue(right, index), `${path}[${index}]`),
    ).flat();
  }
  return [{ path, left, right }];
}

function isEqual(left: unknown, right: unknown): boolean {
  return left !== undefined && right !== undefined && isEqualJson(left, right);
}

function join(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
