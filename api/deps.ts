import type { Client } from '@temporalio/client';
import type { Currencies } from '../config/currencies.js';
import type { Logger } from '../config/logger.js';
import type { Database } from '../db/client.js';
import type { SecretBox } from '../db/secret-box.js';
import type { Metrics } from './metrics.js';

/** Everything that a request may touch, built once in main.ts. */
export interface AppDeps {
  db: Database;
  temporal: Client;
  secretBox: SecretBox;
  currencies: Currencies;
  config: ApiConfig;
  logger: Logger;
  metrics: Metrics;
}

export interface ApiConfig {
  taskQueue: string;
  /** Accepted on execution-update; several while a token is rotated. Empty: nobody is let in. */
  internalTokens: string[];
  /** Node results of runs that ended longer ago poll as `not found`. */
  resultRetentionDays: number;
  /** For links to a run in the Temporal UI's details. */
  publicUrl: string;
  /** Seconds before each further attempt of a webhook delivery. */
  webhookRetrySeconds: number[];
  /** Whether webhooks may be sent to private addresses. */
  allowPrivateNetwork: boolean;
}
