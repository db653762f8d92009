import { applyExecutionUpdate } from '../db/run-life.js';
import type { RunInput } from '../graph/input.js';
import type { NodeOutput } from '../graph/template.js';
import { runClosedFailure } from './failures.js';
import type { NodeKindRunner } from './run-node.js';

/** The first update of every run; the workflow numbers those that follow. */
const START_SEQUENCE = 1;

function toOutput(input: RunInput): NodeOutput {
  return { ...(Array.isArray(input) ? {} : input), content: JSON.stringify(input) };
}

/** The trigger node: hands out the run's input and, with its result, reports that the run has started. */
export const triggerRunner: NodeKindRunner = {
  kind: 'trigger',
  maxAttempts: 1,
  firstDelayMs: 0,
  async execute({ run: { input, publicInput, weightBytes }, memory }) {
    await memory.resize(2 * weightBytes);
    return { output: toOutput(input), publicOutput: toOutput(publicInput) };
  },
  async onRecord(trx, { runId }) {
    const { reason } = await applyExecutionUpdate(trx, runId, { sequence: START_SEQUENCE, status: 'in progress' });
    // Cancelled before it was started, and started all the same: nothing of it may be recorded.
    if (reason === 'already_terminal' || reason === 'unknown_run') throw runClosedFailure();
  },
};
