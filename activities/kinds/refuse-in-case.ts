import { NodeFailure } from '../node/failures.js';
import type { NodeTask } from '../node/node-step.js';

/** A case waits for nobody: a node that would is given its result by a mock. Throws the failure of a node that is not. */
export function refuseInCase({ run }: NodeTask): void {
  if (run.test?.mode !== 'case') return;
  throw new NodeFailure('mock_missing', 'A case waits for nobody: give the node a mock.');
}
