/** What the API is configured with, beside its connections. */
export interface ApiConfig {
  taskQueue: string;
  /** Accepted on execution-update; several while a token is rotated. Empty: nobody is let in. */
  internalTokens: string[];
  /** Requests a minute of a key that has no limit of its own. */
  defaultRateLimit: number;
  /** Results of runs that ended longer ago have expired, unless the run is pinned by a flag. */
  resultRetentionDays: number;
  /** For links to a run in the Temporal UI's details. */
  publicUrl: string;
  /** For links back; without it answers have none. */
  temporalUiUrl: string | undefined;
  /** Seconds before each further attempt of a webhook delivery. */
  webhookRetrySeconds: number[];
  /** Whether webhooks may be sent to private addresses. */
  allowPrivateNetwork: boolean;
}
