import { START_SEQUENCE } from '../../contract/nodes.js';
import type { Database } from '../../db/core/client.js';
import { recordNodeEnd, recordTriggerEnd, type NodeEndRow } from '../../db/nodes/node-results-repository.js';
import { applyExecutionUpdate } from '../../db/runs/run-life.js';
import type { RunInput } from '../../graph/input.js';
import { writeJson } from '../../graph/json-text.js';
import type { NodeOutput } from '../../graph/template.js';
import { runClosedFailure } from '../node/failures.js';
import type { NodeKindRunner, NodeStep } from '../node/node-step.js';
import { toStep } from '../node/run-node.js';
import type { NodeFacts } from '../../contract/nodes.js';

const runner: NodeKindRunner = {
  kind: 'trigger',
  maxAttempts: 1,
  firstDelayMs: 0,
  async execute({ run: { input, publicInput, weightBytes }, memory }) {
    await memory.resize(2 * weightBytes);
    return { output: toOutput(input), publicOutput: toOutput(publicInput) };
  },
};

/** The trigger node outputs the run's input, and its end starts the run. Repeating it changes nothing. */
export function createTriggerStep(db: Database): NodeStep<NodeFacts> {
  return { ...toStep(runner), store: (end) => recordStart(db, end) };
}

/**
 * Records the node's end and the run's start in one statement. If the run was started before, it records them one after
 * the other, which changes nothing on a repeat.
 */
async function recordStart(db: Database, end: NodeEndRow): Promise<boolean> {
  if (await recordTriggerEnd(db, end, START_SEQUENCE)) return true;
  const { reason } = await applyExecutionUpdate(db, end.runId, { sequence: START_SEQUENCE, status: 'in progress' });
  // The run was cancelled before its start, so nothing of it may be recorded.
  if (reason === 'already_terminal' || reason === 'unknown_run') throw runClosedFailure();
  return recordNodeEnd(db, end);
}

function toOutput(input: RunInput): NodeOutput {
  return { ...(Array.isArray(input) ? {} : input), content: writeJson(input) };
}
