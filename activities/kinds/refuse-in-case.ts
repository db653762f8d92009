import { NodeFailure } from '../node/failures.js';
import type { NodeTask } from '../node/node-step.js';

/** Throws in the run of a case. Such a run never waits, so a node that waits needs a mock. */
export function refuseInCase({ run }: NodeTask): void {
  if (run.test?.mode !== 'case') return;
  throw new NodeFailure('mock_missing', 'A case waits for nobody: give the node a mock.');
}
