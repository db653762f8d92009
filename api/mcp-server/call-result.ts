// The result of a tool call: what its run has put out. Failures are results, too, so that the model reads them.
import { isObject, type JsonObject } from '../../graph/json.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { McpServerDeps } from './deps.js';
import { MAX_ANSWER_CHARACTERS, readRunAnswer, type RunAnswer } from '../runs/run-answer.js';

/** Results name their run under this key. */
const RUN_ID = 'run_id';

/** Returns the result of a run that has ended. `lease` holds the memory that the result takes until its end. */
export async function readCallResult(
  deps: Pick<McpServerDeps, 'db'>,
  runId: string,
  lease: ByteLease,
): Promise<JsonObject> {
  return toCallResult(await readRunAnswer(deps, runId, lease), runId);
}

function toCallResult(answer: RunAnswer, runId: string): JsonObject {
  if (answer.kind === 'output') {
    const { output, text } = answer;
    return { ...toText(text, runId), ...(isObject(output) && { structuredContent: output }) };
  }
  if (answer.kind === 'too_large') {
    return failure(
      `The run succeeded, but its output has ${answer.characters} characters, and the result of a tool has at most ${MAX_ANSWER_CHARACTERS}. ${pollOf(runId)} has it.`,
      runId,
    );
  }
  if (answer.kind === 'failed') return failure(`The run failed: ${answer.code}: ${answer.message}`, runId);
  if (answer.kind === 'cancelled') return failure('The run was cancelled.', runId);
  return failure('The run does not exist any more.', runId);
}

/** The answer to a call that has waited long enough: no error, since nothing has failed. */
export function stillRunning(runId: string): JsonObject {
  const text =
    `The run ${runId} has taken an hour so far and goes on. Do not start it again. The tool ${GET_RUN}, or ` +
    `${pollOf(runId)}, with the same API key, says how it stands and what it has put out.`;
  return toText(text, runId);
}

/** The name of the tool that says how a run stands. Names of workflows end in their ids, so none is the same. */
export const GET_RUN = 'get_run';

function pollOf(runId: string): string {
  return `GET /api/v1/workflows/workflow_result/?id=${runId}`;
}

/** A result that is no error. */
export function toText(text: string, runId: string): JsonObject {
  return { content: [{ type: 'text', text }], _meta: { [RUN_ID]: runId } };
}

/** A result that tells the model what is wrong. Without a run, nothing was started. */
export function failure(text: string, runId?: string): JsonObject {
  const meta = runId === undefined ? {} : { _meta: { [RUN_ID]: runId } };
  return { content: [{ type: 'text', text }], isError: true, ...meta };
}
