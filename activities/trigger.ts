import type { Database } from '../db/client.js';
import { applyExecutionUpdate } from '../db/run-life.js';
import type { RunInput } from '../graph/input.js';
import type { NodeOutput } from '../graph/template.js';
import { runClosedFailure } from './failures.js';
import type { NodeKindRunner } from './run-node.js';

/** The first update of every run; the workflow numbers those that follow. */
const START_SEQUENCE = 1;

/**
 * The trigger node: reports that the run has started and hands out its input. The start comes first: a process that dies
 * between the two leaves a trigger without a result, and the next try does both again, the start to no effect.
 */
export function createTriggerRunner(db: Database): NodeKindRunner {
  return {
    kind: 'trigger',
    maxAttempts: 1,
    firstDelayMs: 0,
    async execute({ runId, run: { input, publicInput, weightBytes }, memory }) {
      await memory.resize(2 * weightBytes);
      const { reason } = await applyExecutionUpdate(db, runId, { sequence: START_SEQUENCE, status: 'in progress' });
      // Cancelled before it was started, and started all the same: nothing of it may be recorded.
      if (reason === 'already_terminal' || reason === 'unknown_run') throw runClosedFailure();
      return { output: toOutput(input), publicOutput: toOutput(publicInput) };
    },
  };
}

function toOutput(input: RunInput): NodeOutput {
  return { ...(Array.isArray(input) ? {} : input), content: JSON.stringify(input) };
}
