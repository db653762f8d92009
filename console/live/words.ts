// Model output of a live run: for each node, that of the last model call.
import type { Delta } from '../../clients/typescript/src/index.js';
import { nodeKey } from './live-run.js';
import { cutText, endOfText } from '../../graph/cut-text.js';

export interface ToolCall {
  id: string;
  name: string;
  /** JSON text; long texts are cut at their end. */
  arguments: string;
}

export interface NodeWords {
  nodeId: string;
  path: string;
  /** Starts at 1. */
  attempt: number;
  /** Number of the node's model call, from 0. */
  step: number;
  /** Long texts lose their beginning. */
  text: string;
  /** True if `text` lost its beginning. */
  isCut: boolean;
  toolCalls: readonly ToolCall[];
  /** Time of the last delta, by `performance.now()`. */
  atMs: number;
}

/** Keyed by `nodeKey`. */
export type RunWords = ReadonlyMap<string, NodeWords>;

export const NO_WORDS: RunWords = new Map();

// Limits of the model output that the browser stores: characters per node and per tool call, tool calls per node, and
// nodes per run. Few runs have more nodes in flight than `MOST_NODES`, so surplus entries usually belong to nodes whose
// end the page missed.
export const MOST_TEXT = 256 * 1024;
export const MOST_ARGUMENTS = 16 * 1024;
export const MOST_TOOL_CALLS = 50;
export const MOST_NODES = 200;

/**
 * After this time without deltas, a node no longer counts as writing, because no event reports a failed attempt before
 * the next attempt starts.
 */
export const QUIET_MS = 10_000;

/** Applies deltas in their order. Entries of other nodes remain the same objects. */
export function applyDeltas(words: RunWords, deltas: readonly Delta[], nowMs: number): RunWords {
  if (deltas.length === 0) return words;
  const after = new Map(words);
  for (const delta of deltas) {
    const key = nodeKey(delta.id, delta.path);
    const known = after.get(key);
    // Moves the entry to the end, so that the map is sorted by last change.
    after.delete(key);
    after.set(key, append(known, delta, nowMs));
  }
  for (const key of after.keys()) {
    if (after.size <= MOST_NODES) break;
    after.delete(key);
  }
  return after;
}

/** Returns the entries for which `isOpen` is true; the same map if that is all of them. */
export function endClosedNodes(words: RunWords, isOpen: (key: string) => boolean): RunWords {
  const open = [...words].filter(([key]) => isOpen(key));
  return open.length === words.size ? words : new Map(open);
}

function append(known: NodeWords | undefined, delta: Delta, atMs: number): NodeWords {
  const { id: nodeId, path, attempt, step, index, text = '', tool_call: call, reset } = delta;
  // A stream that reconnects starts again with the delta of index 0.
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
  const { id, name, arguments: text } = call;
  if (text.length <= MOST_ARGUMENTS) return { id, name, arguments: text };
  return { id, name, arguments: `${cutText(text, MOST_ARGUMENTS)}…` };
}

/**
 * Returns the ids of the nodes whose model is writing; `known` itself if nothing changed. A model that called tools, or
 * was quiet for `QUIET_MS`, is not writing.
 */
export function writingIn(words: RunWords, known: ReadonlySet<string>, nowMs: number): ReadonlySet<string> {
  const isWriting = ({ toolCalls, atMs }: NodeWords): boolean => toolCalls.length === 0 && nowMs - atMs < QUIET_MS;
  const writing = new Set([...words.values()].filter(isWriting).map(({ nodeId }) => nodeId));
  return writing.size === known.size && [...writing].every((id) => known.has(id)) ? known : writing;
}
