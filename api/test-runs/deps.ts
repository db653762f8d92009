import type { ModelProviders } from '../../config/model-providers.js';
import type { Processes } from '../../processes/processes.js';
import type { RunDeps } from '../runs/deps.js';

export type TestDeps = RunDeps & {
  models: ModelProviders;
  processes: Processes;
};
