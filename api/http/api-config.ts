import type { Environment } from '../../config/environment.js';

type Shared =
  | 'addressRules'
  | 'corsOrigins'
  | 'defaultRateLimit'
  | 'execution'
  | 'maxProjectBytes'
  | 'publicUrl'
  | 'resultRetentionDays'
  | 'runTimeoutDays'
  | 'sessionRateLimit'
  | 'temporalUiUrl'
  | 'webhookRetrySeconds';

/** The settings of the API, apart from its connections. */
export interface ApiConfig extends Pick<Environment, Shared> {
  taskQueue: string;
  /** Tokens accepted on execution-update; more than one while a token is rotated. An empty list admits no caller. */
  internalTokens: string[];
  /** True if metrics and the details of readiness are served on a port of their own, and only there. */
  hasMetricsPort: boolean;
}
