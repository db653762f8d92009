import type { Client } from '@temporalio/client';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { Logger } from '../../telemetry/logger.js';

export interface ScheduleDeps {
  db: Database;
  secretBox: SecretBox;
  temporal: Client;
  logger: Logger;
  config: {
    taskQueue: string;
  };
}
