import type { Counter, Histogram } from 'prom-client';
import type { Environment } from '../../config/environment.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { Logger } from '../../telemetry/logger.js';

export interface WebhookDeps {
  db: Database;
  secretBox: SecretBox;
  logger: Logger;
  metrics: { webhookAttempts: Counter<'outcome'>; webhookAttemptSeconds: Histogram };
  config: Pick<Environment, 'addressRules' | 'webhookRetrySeconds'>;
}
