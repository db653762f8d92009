import type { Environment } from '../../config/environment.js';
import type { DispatchDeps } from '../dispatch/deps.js';
import type { RunDeps } from '../runs/deps.js';
import type { UsageDeps } from '../usage/deps.js';

export type BuildDeps = DispatchDeps &
  RunDeps &
  Pick<UsageDeps, 'models'> & {
    config: Pick<Environment, 'publicUrl'>;
  };
