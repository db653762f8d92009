import type { NodeKindRunner } from '../node/node-step.js';
import { outputOfTrigger } from '../node/start-run.js';

/** A trigger behind other nodes. The one at the start is executed when a worker takes the run. */
export const triggerRunner: NodeKindRunner = {
  kind: 'trigger',
  maxAttempts: 1,
  firstDelayMs: 0,
  async execute({ run, memory }) {
    await memory.resize(2 * run.weightBytes);
    return outputOfTrigger(run);
  },
};
