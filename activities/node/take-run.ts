// The first worker that executes anything of a run takes it: it records the start of the run together with the end of its
// trigger, whose output is the run's input. docs/adr/0005-start-recorded-by-the-first-worker.md gives the reasons.
import { recordTriggerEnd } from '../../db/nodes/node-results-repository.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import type { RunInput } from '../../graph/input.js';
import { writeJson } from '../../graph/json-text.js';
import type { Plan } from '../../graph/plan.js';
import type { NodeOutput } from '../../graph/template.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { ByteBudget } from '../../outgoing/byte-budget.js';
import { finalFailure } from './failures.js';
import { toResultText } from './result-text.js';
import type { RunContext } from './run-context.js';

export interface TakingDeps {
  db: Database;
  secretBox: SecretBox;
  memory: ByteBudget;
}

/**
 * Records nothing where the run has started before, has ended, or has taken over the end of its trigger from an earlier
 * run. Returns the trigger's output as JSON text, unmasked. Throws a non-retryable failure where the project may store no
 * more.
 */
export async function takeRun(deps: TakingDeps, run: RunContext, { ids, labels }: Plan): Promise<string> {
  const { runId, input, publicInput, projectId, userId, masker, weightBytes } = run;
  const lease = deps.memory.lease(`project:${projectId}`);
  try {
    await lease.resize(2 * weightBytes);
    const key = { runId, path: '', nodeId: ids[0]! };
    const output = { output: toOutput(input), publicOutput: toOutput(publicInput) };
    const { plain, result, resultEnc } = toResultText(output, key, { masker, secretBox: deps.secretBox });
    await recordTriggerEnd(deps.db, { ...key, label: labels[0]!, projectId, userId, result, resultEnc });
    return plain;
  } catch (error) {
    throw isQuotaExceeded(error) ? finalFailure('quota_exceeded') : error;
  } finally {
    lease.end();
  }
}

function toOutput(input: RunInput): NodeOutput {
  return { ...(Array.isArray(input) ? {} : input), content: writeJson(input) };
}
