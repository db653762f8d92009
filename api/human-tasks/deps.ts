import type { Client } from '@temporalio/client';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { Logger } from '../../telemetry/logger.js';
import type { HeavyWork } from '../http/heavy-work.js';

export interface HumanTaskDeps {
  db: Database;
  secretBox: SecretBox;
  temporal: Client;
  heavyWork: HeavyWork;
  logger: Logger;
}
