// Reads the output of an ended run for callers that receive a single answer: MCP clients, and clients of chat
// completions.
import { readOutputs } from '../../db/nodes/node-outputs-repository.js';
import { countCharacters, findRunResult } from '../../db/nodes/run-output.js';
import { findRunEnd } from '../../db/runs/tool-runs-repository.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import type { NodeOutput } from '../../graph/template.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { RunDeps } from './deps.js';

/** The limit applies to the text of an output; no model reads more. */
export const MAX_ANSWER_CHARACTERS = 1024 * 1024;
/** Bytes of memory per byte of a stored result: its text, its value, and the answer with both. */
const WEIGHT = 8;

/**
 * `output`: the value of the run's output node, or the content of its last node; empty if the run has no result or its
 * results have expired. `text` is JSON unless the output is a string.
 */
export type RunAnswer =
  | { kind: 'output'; output: unknown; text: string }
  | { kind: 'too_large'; characters: number }
  | { kind: 'failed'; code: string; message: string }
  | { kind: 'cancelled' | 'gone' };

/** Returns the outcome of an ended run. `lease` gets the size of the answer in memory; the caller ends the lease. */
export async function readRunAnswer({ db }: Pick<RunDeps, 'db'>, runId: string, lease: ByteLease): Promise<RunAnswer> {
  const end = await findRunEnd(db, runId);
  if (end === undefined) return { kind: 'gone' };
  if (end.status === 'Cancelled') return { kind: 'cancelled' };
  if (end.status !== 'Succeeded') {
    return { kind: 'failed', code: end.errorCode ?? 'failed', message: end.errorMessage ?? 'a node failed.' };
  }
  const found = await findRunResult(db, runId);
  if (found !== undefined && found.sizeBytes > MAX_ANSWER_CHARACTERS) {
    // The database counts the characters, because an output that is too large should take no memory here.
    const characters = (await countCharacters(db, runId, found)) ?? 0;
    if (characters > MAX_ANSWER_CHARACTERS) return { kind: 'too_large', characters };
  }
  await lease.resize(WEIGHT * (found?.sizeBytes ?? 0));
  const [stored] = found === undefined ? [] : await readOutputs(db, { runId, path: found.path }, [found.nodeId]);
  if (found === undefined || stored === undefined) return { kind: 'output', output: '', text: '' };
  const { content, value } = parseJson(stored.result) as NodeOutput;
  const output = found.isOutput ? value : content;
  const text = typeof output === 'string' ? output : writeJson(output);
  // `length` counts a character beyond 16 bits as two, the database as one, so the text may still exceed the limit.
  if (text.length > MAX_ANSWER_CHARACTERS) return { kind: 'too_large', characters: text.length };
  return { kind: 'output', output, text };
}
