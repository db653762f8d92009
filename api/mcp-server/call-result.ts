// Builds the result of a tool call from the output of its run. Failures are results, too, so that the model reads them.
import { isObject, type JsonObject } from '../../graph/json.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { McpServerDeps } from './deps.js';
import { MAX_ANSWER_CHARACTERS, readRunAnswer, type RunAnswer } from '../runs/run-answer.js';

const RUN_ID = 'run_id';

/** Returns the result of a run that has ended. `lease` holds the memory of the result until the lease ends. */
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

/** Answers a call whose run has not ended within the time limit of calls. This is no error: nothing has failed. */
export function stillRunning(runId: string): JsonObject {
  const text =
    `The run ${runId} has taken an hour so far and goes on. Do not start it again. The tool ${GET_RUN}, or ` +
    `${pollOf(runId)}, with the same API key, says how it stands and what it has put out.`;
  return toText(text, runId);
}

/** The tool that reports the state of a run. Tool names of workflows end in their ids, so none equals it. */
export const GET_RUN = 'get_run';

function pollOf(runId: string): string {
  return `GET /api/v1/workflows/workflow_result/?id=${runId}`;
}

export function toText(text: string, runId: string): JsonObject {
  return { content: [{ type: 'text', text }], _meta: { [RUN_ID]: runId } };
}

/** Returns a result that explains an error to the model. `runId` is undefined if the result may name no run. */
export function failure(text: string, runId?: string): JsonObject {
  const meta = runId === undefined ? {} : { _meta: { [RUN_ID]: runId } };
  return { content: [{ type: 'text', text }], isError: true, ...meta };
}
