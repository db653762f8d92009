import type { ModelProviders } from '../../config/model-providers.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { Processes } from '../../processes/processes.js';
import type { RunDeps } from '../runs/deps.js';

export type TestDeps = RunDeps & {
  models: ModelProviders;
  memory: ByteBudget;
  processes: Processes;
  /** For documents, whose parsers need more memory than other work. */
  documentProcesses: Processes;
};
