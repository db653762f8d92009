// Parses and resolves the text between `{{` and `}}` (docs/use/interface-notes/graphs.md).
import { findJson } from './found-json.js';
import { isContainer, ownValue } from './json.js';

export type RunInput = Record<string, unknown> | unknown[];
export type NodeOutput = { content: string; [field: string]: unknown };

export interface VariableValues {
  input: RunInput;
  results: ReadonlyMap<string, NodeOutput>;
  /** Errors that the run has survived. */
  errors?: ReadonlyMap<string, NodeErrorFacts>;
  /** The variables of the loops around the reading node, by the loops' ids. */
  loops?: ReadonlyMap<string, LoopVariables>;
  /** The addresses of callbacks, by the ids of the waiting nodes. */
  callbackUrls?: ReadonlyMap<string, string>;
  /** Texts that replace outputs that are too large to be shown, by node id. */
  leftOut?: ReadonlyMap<string, string>;
}

export interface NodeErrorFacts {
  code: string;
  /** The message with secrets masked, as readers see it. */
  message: string;
}

/** The properties of an iteration that nodes in its body can read. */
export interface LoopVariables {
  /** The index of the iteration, from 0. */
  index: number;
  item?: unknown;
  /**
   * The output of the previous round, absent in the first one. For the condition of a loop, the output of the round
   * that has just ended.
   */
  last?: unknown;
}

export type PathPart = string | number;

export type Variable =
  | { source: 'input'; path: PathPart[] }
  /** The path starts after `result`. */
  | { source: 'node'; nodeId: string; path: PathPart[] }
  /** The path starts after `error`: `code` or `message` of a failure that the run has survived. */
  | { source: 'error'; nodeId: string; path: PathPart[] }
  /** The path starts with `item`, `index` or `last`, of the loop's current iteration. */
  | { source: 'loop'; nodeId: string; path: PathPart[] }
  | { source: 'callback'; nodeId: string; path: [] };

// Bounds the cost of hostile texts. No real id with its path is longer.
const MAX_EXPRESSION = 1000;
const WORD = /\.(result|error|item|index|last|callback_url)(?=[.[\s]|$)/;

/** Parses the text between the braces. Returns undefined if it isn't a variable. */
export function parseVariable(expression: string): Variable | undefined {
  const text = expression.trim();
  if (text.length > MAX_EXPRESSION) return undefined;
  if (text.startsWith('input')) {
    const path = parsePath(text.slice('input'.length));
    if (path) return { source: 'input', path };
  }
  return parseNodeVariable(text);
}

/** If `text` contains several words of `WORD`, the leftmost counts: the node id precedes it, and the path follows. */
function parseNodeVariable(text: string): Variable | undefined {
  const found = WORD.exec(text);
  if (found === null || found.index === 0) return undefined;
  const path = parsePath(text.slice(found.index + found[0].length));
  if (path === undefined) return undefined;
  const nodeId = text.slice(0, found.index).trim();
  const word = found[1]!;
  if (word === 'result') return { source: 'node', nodeId, path };
  if (word === 'error') return { source: 'error', nodeId, path };
  if (word === 'callback_url') return path.length === 0 ? { source: 'callback', nodeId, path: [] } : undefined;
  return { source: 'loop', nodeId, path: [word, ...path] };
}

/** Parses `.name`, `[0]` and `["name"]` in any order. Returns undefined for any other text. */
function parsePath(text: string): PathPart[] | undefined {
  const path: PathPart[] = [];
  let rest = text.trimStart();
  while (rest !== '') {
    let end: number;
    if (rest.startsWith('.')) {
      end = rest.slice(1).search(/[.[]/) + 1 || rest.length;
      const name = rest.slice(1, end).trim();
      if (name === '' || name.includes(']')) return undefined;
      path.push(toPart(name));
    } else if (rest.startsWith('[')) {
      end = rest.indexOf(']') + 1;
      const part = parseBracket(rest.slice(1, end - 1).trim());
      if (end === 0 || part === undefined) return undefined;
      path.push(part);
    } else {
      return undefined;
    }
    rest = rest.slice(end).trimStart();
  }
  return path;
}

function parseBracket(text: string): PathPart | undefined {
  if (/^\d+$/.test(text)) return toPart(text);
  const quote = text[0];
  const isQuoted = text.length > 2 && (quote === '"' || quote === "'") && text.endsWith(quote);
  return isQuoted ? text.slice(1, -1) : undefined;
}

/** `tags.0` means `tags[0]`: a name that is exactly an index counts as an index. */
function toPart(name: string): PathPart {
  return /^(0|[1-9]\d{0,9})$/.test(name) ? Number(name) : name;
}

/** Returns the variable's value, or undefined if it has none. Reads own properties only. */
export function resolveVariable(variable: Variable, values: VariableValues): unknown {
  const { path } = variable;
  if (variable.source === 'input') return walk(values.input, path);
  if (variable.source === 'callback') return values.callbackUrls?.get(variable.nodeId);
  if (variable.source === 'error') return walk(values.errors?.get(variable.nodeId), path);
  if (variable.source === 'loop') return walk(values.loops?.get(variable.nodeId), path);
  const output = values.results.get(variable.nodeId);
  if (output === undefined) return values.leftOut?.get(variable.nodeId);
  const [field] = path;
  const isOwnField = field === undefined || ownValue(output, field) !== undefined;
  return walk(isOwnField ? output : parsedContent(output), path);
}

function walk(value: unknown, path: readonly PathPart[]): unknown {
  let current = value;
  for (const part of path) current = ownValue(current, part);
  return current;
}

// A template may read fields of the same large content many times, so the content is parsed only once.
const parsedContents = new WeakMap<NodeOutput, unknown>();

function parsedContent(output: NodeOutput): unknown {
  if (!parsedContents.has(output)) parsedContents.set(output, parseContent(output.content));
  return parsedContents.get(output);
}

/** Returns the JSON object or array that the content is or contains (`findJson`), or undefined if there is none. */
export function parseContent(content: unknown): unknown {
  const value = typeof content === 'string' ? findJson(content) : undefined;
  return isContainer(value) ? value : undefined;
}
