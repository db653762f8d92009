import type { NodeRunner } from '../node/node-step.js';
import { outputOfTrigger } from '../node/start-run.js';

/** Runs a trigger behind other nodes. The end of the run's first trigger is recorded with the start of the run. */
export const triggerRunner: NodeRunner = {
  isClaimed: false,
  retry: { maxAttempts: 1, firstDelayMs: 0 },
  async run({ run, memory }) {
    await memory.resize(2 * run.weightBytes);
    return outputOfTrigger(run);
  },
};
