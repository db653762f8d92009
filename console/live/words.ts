// What the models of a run are writing: of each node the last call of a model.
import type { Delta } from '../../clients/typescript/src/index.js';
import { nodeKey } from './live-run.js';
import { cutText, endOfText } from '../../graph/cut-text.js';

export interface ToolCall {
  id: string;
  name: string;
  /** A text of JSON, of which a long one keeps its beginning. */
  arguments: string;
}

/** What a node has written in the last call of its model. */
export interface NodeWords {
  nodeId: string;
  path: string;
  /** From 1. */
  attempt: number;
  /** The number of the node's call of its model, from 0. */
  step: number;
  /** The end of a long text. */
  text: string;
  /** Whether `text` lacks its beginning. */
  isCut: boolean;
  toolCalls: readonly ToolCall[];
  /** When the last of it came, by `performance.now()`. */
  atMs: number;
}

/** By `nodeKey`. */
export type RunWords = ReadonlyMap<string, NodeWords>;

export const NO_WORDS: RunWords = new Map();

// The limits of what a browser keeps of a run. A run has fewer nodes in flight; those that are left over have ended unseen.
export const MOST_TEXT = 256 * 1024;
export const MOST_ARGUMENTS = 16 * 1024;
export const MOST_TOOL_CALLS = 50;
export const MOST_NODES = 200;

/** Nothing tells at once that an attempt has failed and the next one is yet to come. */
export const QUIET_MS = 10_000;

/** Returns the words after deltas, in their order. Those of other nodes stay the same objects. */
export function applyDeltas(words: RunWords, deltas: readonly Delta[], nowMs: number): RunWords {
  if (deltas.length === 0) return words;
  const after = new Map(words);
  for (const delta of deltas) {
    const key = nodeKey(delta.id, delta.path);
    const known = after.get(key);
    // What was written last stands last.
    after.delete(key);
    after.set(key, append(known, delta, nowMs));
  }
  for (const key of after.keys()) {
    if (after.size <= MOST_NODES) break;
    after.delete(key);
  }
  return after;
}

/** Returns the words of those nodes that `isOpen` holds for, and the same map if these are all. */
export function keepWords(words: RunWords, isOpen: (key: string) => boolean): RunWords {
  const kept = [...words].filter(([key]) => isOpen(key));
  return kept.length === words.size ? words : new Map(kept);
}

function append(known: NodeWords | undefined, delta: Delta, atMs: number): NodeWords {
  const { id: nodeId, path, attempt, step, index, text = '', tool_call: call, reset } = delta;
  // A reader that comes again is told from the beginning: its first delta has the number 0 once more.
  const goesOn = known?.attempt === attempt && known.step === step && reset !== true && index > 0;
  const before = goesOn ? known : { text: '', isCut: false, toolCalls: [] };
  const whole = before.text + text;
  const isTooLong = whole.length > MOST_TEXT;
  return {
    nodeId,
    path,
    attempt,
    step,
    text: isTooLong ? endOfText(whole, MOST_TEXT) : whole,
    isCut: before.isCut || isTooLong,
    toolCalls: call === undefined ? before.toolCalls : [...before.toolCalls, shorten(call)].slice(-MOST_TOOL_CALLS),
    atMs,
  };
}

function shorten(call: ToolCall): ToolCall {
  const { id, name, arguments: given } = call;
  if (given.length <= MOST_ARGUMENTS) return { id, name, arguments: given };
  return { id, name, arguments: `${cutText(given, MOST_ARGUMENTS)}…` };
}

/**
 * Returns the ids of the nodes that write, and `known` if these are the same. A model that has asked for tools, or has
 * been quiet for `QUIET_MS`, does not write.
 */
export function writingIn(words: RunWords, known: ReadonlySet<string>, nowMs: number): ReadonlySet<string> {
  const isWriting = ({ toolCalls, atMs }: NodeWords): boolean => toolCalls.length === 0 && nowMs - atMs < QUIET_MS;
  const writing = new Set([...words.values()].filter(isWriting).map(({ nodeId }) => nodeId));
  return writing.size === known.size && [...writing].every((id) => known.has(id)) ? known : writing;
}
