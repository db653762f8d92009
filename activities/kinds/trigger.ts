import { recordNodeEnd, recordTriggerEnd, type NodeEnd } from '../../db/nodes/node-results-repository.js';
import { applyExecutionUpdate } from '../../db/runs/run-life.js';
import type { RunInput } from '../../graph/input.js';
import type { NodeOutput } from '../../graph/template.js';
import { runClosedFailure } from '../node/failures.js';
import type { NodeDeps, NodeKindRunner } from '../node/run-node.js';

/** The first update of every run; the workflow numbers those that follow. */
const START_SEQUENCE = 1;

/** The trigger node hands out the run's input. */
export const triggerRunner: NodeKindRunner = {
  kind: 'trigger',
  maxAttempts: 1,
  firstDelayMs: 0,
  async execute({ run: { input, publicInput, weightBytes }, memory }) {
    await memory.resize(2 * weightBytes);
    return { output: toOutput(input), publicOutput: toOutput(publicInput) };
  },
};

/**
 * The trigger's end is the run's start: both at once. Of a run that has been started before, the trigger's end is recorded
 * by itself, to no effect if that was done as well.
 */
export async function recordStart({ db, fresh }: Pick<NodeDeps, 'db' | 'fresh'>, end: NodeEnd): Promise<boolean> {
  const ageMs = await recordTriggerEnd(db, end, START_SEQUENCE);
  if (ageMs !== undefined) {
    fresh.add(end.runId, ageMs);
    return true;
  }
  const { reason } = await applyExecutionUpdate(db, end.runId, { sequence: START_SEQUENCE, status: 'in progress' });
  // Cancelled before it was started, and started all the same: nothing of it may be recorded.
  if (reason === 'already_terminal' || reason === 'unknown_run') throw runClosedFailure();
  return recordNodeEnd(db, end);
}

function toOutput(input: RunInput): NodeOutput {
  return { ...(Array.isArray(input) ? {} : input), content: JSON.stringify(input) };
}
