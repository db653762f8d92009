// The first worker that executes a node of a run records the start of the run and the end of its trigger.
// docs/adr/0005-start-recorded-by-the-first-worker.md gives the reasons.
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { isQuotaExceeded } from '../../db/projects/stored-bytes-repository.js';
import { startRun } from '../../db/runs/run-life.js';
import type { RunInput } from '../../graph/input.js';
import { writeJson } from '../../graph/json-text.js';
import type { Masker } from '../../graph/mask.js';
import type { Plan } from '../../graph/plan.js';
import type { NodeOutput } from '../../graph/template.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { WorkerMetrics } from '../worker/worker-metrics.js';
import { finalFailure } from './failures.js';
import { toResultText } from './result-text.js';

export interface StartDeps {
  db: Database;
  secretBox: SecretBox;
  memory: ByteBudget;
  metrics: Pick<WorkerMetrics, 'nodes'>;
}

interface StartingRun {
  runId: string;
  projectId: number;
  userId: number;
  masker: Masker;
  weightBytes: number;
  input: RunInput;
  publicInput: RunInput;
}

/**
 * Records the start of the run and the end of its trigger, unless they are recorded already. (A run may reuse its
 * trigger's result from an earlier run.) Records nothing if the run has ended. Returns the trigger's output as unmasked
 * JSON text, or undefined if the run starts with another node. Throws a non-retryable failure if the project's quota is
 * exceeded.
 */
export async function recordStart(deps: StartDeps, run: StartingRun, plan: Plan): Promise<string | undefined> {
  const { runId, projectId, userId, masker, weightBytes } = run;
  const [nodeId, kind, label] = [plan.ids[0]!, plan.kinds[0]!, plan.labels[0]!];
  const lease = deps.memory.lease(`project:${projectId}`);
  try {
    if (kind !== 'trigger') {
      await startRun(deps.db, runId);
      return undefined;
    }
    await lease.resize(2 * weightBytes);
    const key = { runId, path: '', nodeId };
    const { plain, result, resultEnc } = toResultText(outputOfTrigger(run), key, { masker, secretBox: deps.secretBox });
    const trigger = { ...key, label, projectId, userId, result, resultEnc };
    const isRecorded = await startRun(deps.db, runId, { trigger });
    if (isRecorded) deps.metrics.nodes.inc({ kind, outcome: 'succeed' });
    return plain;
  } catch (error) {
    throw isQuotaExceeded(error) ? finalFailure('quota_exceeded') : error;
  } finally {
    lease.end();
  }
}

/** The output of a trigger is the input of its run: unmasked for later nodes, masked for readers. */
export function outputOfTrigger({ input, publicInput }: Pick<StartingRun, 'input' | 'publicInput'>) {
  return { output: toOutput(input), publicOutput: toOutput(publicInput) };
}

function toOutput(input: RunInput): NodeOutput {
  return { ...(Array.isArray(input) ? {} : input), content: writeJson(input) };
}
