import { NodeFailure } from '../node/failures.js';
import type { NodeTask } from '../node/node-step.js';

/** Throws in the run of a test case. Nobody acts during such a run, so a node that waits for somebody needs a mock. */
export function refuseInCase({ run }: NodeTask): void {
  if (run.test?.mode !== 'case') return;
  throw new NodeFailure('mock_missing', 'A case waits for nobody: give the node a mock.');
}
