import type { Currencies } from '../../config/currencies.js';
import type { Environment } from '../../config/environment.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { HeavyWork } from '../http/heavy-work.js';
import type { Processes } from '../../processes/processes.js';

export interface WorkflowDeps {
  db: Database;
  secretBox: SecretBox;
  currencies: Currencies;
  processes: Processes;
  heavyWork: HeavyWork;
  config: Pick<Environment, 'runTimeoutDays'>;
}
