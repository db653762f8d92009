import type { Execution } from '../../graph/document.js';
import type { AddressRules } from '../../outgoing/address-guard.js';

/** The settings of the API, apart from its connections. */
export interface ApiConfig {
  taskQueue: string;
  /** Tokens accepted on execution-update; more than one while a token is rotated. An empty list admits no caller. */
  internalTokens: string[];
  /** Requests a minute for a key without its own limit. */
  defaultRateLimit: number;
  /** Requests a minute of all sessions of a user together. */
  sessionRateLimit: number;
  /** Results expire this long after the end of their run, unless a flag pins the run. */
  resultRetentionDays: number;
  /** The most days that a run may last. */
  runTimeoutDays: number;
  /** The limit on the bytes that a project stores. */
  maxProjectBytes: number;
  /** The base of links from the Temporal UI to a run. */
  publicUrl: string;
  /** Runs whose drawing does not say how they are executed are executed in this way. */
  execution: Execution;
  /** The origins whose pages may call from a browser. */
  corsOrigins: string[];
  /** The base of links to the Temporal UI; answers have no such links without it. */
  temporalUiUrl: string | undefined;
  /** Seconds before each further attempt of a webhook delivery. */
  webhookRetrySeconds: number[];
  /** The rules for the addresses of webhooks and MCP servers. */
  addressRules: AddressRules;
  /** True if metrics and the details of readiness are served on a port of their own, and only there. */
  hasMetricsPort: boolean;
}
