// Reads the fixed outcome of a node in a test run: a mock or a pin replaces its execution.
import { isObject, type JsonObject } from './json.js';
import type { NodeKind } from './kinds.js';
import { FIRST_LISTED_HANDLE, type Handle } from './plan.js';
import type { NodeOutput } from './template.js';
import { cutText } from './cut-text.js';

/** The fixed outcome of a node: its output and the handles by which the node is left, or its failure. */
export type FixedOutcome = { output: NodeOutput; handles: Handle[] } | { error: { code: string; message: string } };

const DEFAULT_ACTION = 'done';
const MAX_CODE_CHARACTERS = 100;
const MAX_MESSAGE_CHARACTERS = 4_000;

/**
 * Reads `{content, ...}`, `{error: {code, message}}`, or, for a human task, `{action, values}` without validating the
 * values. Returns an error text if the value is invalid.
 */
export function readFixedOutcome(kind: NodeKind, data: JsonObject, fixed: unknown): FixedOutcome | string {
  if (!isObject(fixed)) return 'Expected an object.';
  if (Object.hasOwn(fixed, 'error')) return readError(fixed['error']);
  if (kind === 'human' && !Object.hasOwn(fixed, 'content')) return readAction(data, fixed);
  const { content } = fixed;
  if (typeof content !== 'string') return 'Expected a text as "content".';
  const handles = handlesOf(kind, data, fixed);
  if (typeof handles === 'string') return handles;
  return { output: { ...fixed, content }, handles };
}

function readError(error: unknown): FixedOutcome | string {
  if (!isObject(error)) return 'Expected an object as "error".';
  const { code, message = '' } = error;
  if (typeof code !== 'string' || code === '' || code.length > MAX_CODE_CHARACTERS) {
    return `Expected a text of 1 to ${MAX_CODE_CHARACTERS} characters as "error.code".`;
  }
  if (typeof message !== 'string' || message.length > MAX_MESSAGE_CHARACTERS) {
    return `Expected a text of at most ${MAX_MESSAGE_CHARACTERS} characters as "error.message".`;
  }
  return { error: { code, message } };
}

function readAction(data: JsonObject, { action, values = {}, comment = '' }: JsonObject): FixedOutcome | string {
  if (typeof action !== 'string') return 'Expected a text as "content" or "action".';
  if (!isObject(values)) return 'Expected an object as "values".';
  if (typeof comment !== 'string') return 'Expected a text as "comment".';
  const handles = handlesOf('human', data, { content: action });
  if (typeof handles === 'string') return handles;
  return { output: { content: action, action, values, comment, answered_by: [] }, handles };
}

/** The content of a deciding node, or the list `cases` of a switch, names the handles by which the node is left. */
function handlesOf(kind: NodeKind, data: JsonObject, fixed: JsonObject): Handle[] | string {
  const content = String(fixed['content']);
  if (kind === 'condition') {
    if (content === 'true') return [1];
    return content === 'false' ? [2] : 'The content of a condition is "true" or "false".';
  }
  if (kind === 'switch') return casesOf(data, fixed);
  if (kind !== 'human') return [0];
  const actions = listedIds(data['actions']);
  if (actions === undefined) {
    return content === DEFAULT_ACTION ? [0] : `The task has no action "${cutText(content, 100)}".`;
  }
  const index = actions.indexOf(content);
  return index < 0 ? `The task has no action "${cutText(content, 100)}".` : [FIRST_LISTED_HANDLE + index];
}

function casesOf(data: JsonObject, { content, cases }: JsonObject): Handle[] | string {
  const ids = listedIds(data['cases']) ?? [];
  const handles = new Map(ids.map((id, index): [unknown, Handle] => [id, FIRST_LISTED_HANDLE + index]));
  const taken = Array.isArray(cases) ? cases : content === 'default' ? [] : [content];
  const unknown = taken.find((id) => !handles.has(id));
  if (unknown !== undefined) return `The node has no case "${cutText(String(unknown), 100)}".`;
  return taken.length === 0 ? [1] : taken.map((id) => handles.get(id)!);
}

function listedIds(list: unknown): unknown[] | undefined {
  return Array.isArray(list) ? list.map((item) => (isObject(item) ? item['id'] : undefined)) : undefined;
}
