import type { Client } from '@temporalio/client';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { Processes } from '../../processes/processes.js';
import type { Logger } from '../../telemetry/logger.js';
import type { HeavyWork } from '../http/heavy-work.js';

export interface ApprovalDeps {
  db: Database;
  secretBox: SecretBox;
  temporal: Client;
  heavyWork: HeavyWork;
  memory: ByteBudget;
  processes: Processes;
  logger: Logger;
}
