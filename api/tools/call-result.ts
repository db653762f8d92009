// The result of a tool call: what its run has put out. Failures are results, too, so that the model reads them.
import { readOutputs } from '../../db/nodes/node-outputs-repository.js';
import { countCharacters, findRunResult } from '../../db/runs/run-output.js';
import { findRunEnd } from '../../db/runs/tool-runs-repository.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import type { NodeOutput } from '../../graph/template.js';
import type { ByteLease } from '../../outgoing/byte-budget.js';
import type { AppDeps } from '../deps.js';

/** The limit applies to the text of a result; no model reads more. */
const MAX_CHARACTERS = 1024 * 1024;
/** Bytes of memory per byte of a stored result: its text, its value, and the answer with both. */
const WEIGHT = 8;

/** Results name their run under this key. */
const RUN_ID = 'run_id';

/** Returns the result of a run that has ended. `lease` holds the memory that the result takes until its end. */
export async function readCallResult(
  { db }: Pick<AppDeps, 'db'>,
  runId: string,
  lease: ByteLease,
): Promise<JsonObject> {
  const end = await findRunEnd(db, runId);
  if (end === undefined) return failure('The run does not exist any more.', runId);
  if (end.status === 'Cancelled') return failure('The run was cancelled.', runId);
  if (end.status !== 'Succeeded') {
    return failure(`The run failed: ${end.errorCode ?? 'failed'}: ${end.errorMessage ?? 'a node failed.'}`, runId);
  }
  const found = await findRunResult(db, runId);
  if (found !== undefined && found.sizeBytes > MAX_CHARACTERS) {
    // The database counts: what is not told after all takes no memory here.
    const characters = (await countCharacters(db, runId, found)) ?? 0;
    if (characters > MAX_CHARACTERS) return tooLarge(characters, runId);
  }
  await lease.resize(WEIGHT * (found?.sizeBytes ?? 0));
  const [stored] = found === undefined ? [] : await readOutputs(db, { runId, path: found.path }, [found.nodeId]);
  if (found === undefined || stored === undefined) return success('', runId);
  const { content, value } = parseJson(stored.result) as NodeOutput;
  return success(found.isOutput ? value : content, runId);
}

function success(output: unknown, runId: string): JsonObject {
  const text = typeof output === 'string' ? output : writeJson(output);
  // The database counts characters beyond 16 bits once.
  if (text.length > MAX_CHARACTERS) return tooLarge(text.length, runId);
  const structured = isObject(output) ? { structuredContent: output } : {};
  return { content: [{ type: 'text', text }], ...structured, _meta: { [RUN_ID]: runId } };
}

function tooLarge(characters: number, runId: string): JsonObject {
  return failure(
    `The run succeeded, but its output has ${characters} characters, and the result of a tool has at most ${MAX_CHARACTERS}. ${pollOf(runId)} has it.`,
    runId,
  );
}

/** The answer to a call that has waited long enough: no error, since nothing has failed. Extensions, section 9. */
export function stillRunning(runId: string): JsonObject {
  const text =
    `The run ${runId} has taken an hour so far and goes on. Do not start it again. ` +
    `${pollOf(runId)}, with the same API key, says how it stands and what it has put out.`;
  return { content: [{ type: 'text', text }], _meta: { [RUN_ID]: runId } };
}

function pollOf(runId: string): string {
  return `GET /api/v1/workflows/workflow_result/?id=${runId}`;
}

/** A result that tells the model what is wrong. Without a run, nothing was started. */
export function failure(text: string, runId?: string): JsonObject {
  const meta = runId === undefined ? {} : { _meta: { [RUN_ID]: runId } };
  return { content: [{ type: 'text', text }], isError: true, ...meta };
}
