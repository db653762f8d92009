import type { components } from './openapi.js';

export { createClient, unwrap, type Client, type ClientOptions } from './client.js';
export { RunNotFoundError, RunRefusedError, RunTimeoutError, ServiceError } from './errors.js';
export { followRun, type FollowOptions, type RunEvent } from './events.js';
export { createIdempotencyKey } from './idempotency-key.js';
export { createRetryingFetch, type RetryOptions } from './retrying-fetch.js';
export { type TokenSource } from './session-fetch.js';
export {
  contentOf,
  pollRun,
  runToEnd,
  startRun,
  waitForRun,
  type FinishedRun,
  type NodeResult,
  type RunState,
  type RunStatus,
  type StartOptions,
  type WaitOptions,
} from './runs.js';
export type { components, operations, paths } from './openapi.js';

export type Project = components['schemas']['Project'];
export type Run = components['schemas']['Run'];
export type RunEnvelope = components['schemas']['RunEnvelope'];
export type Workflow = components['schemas']['Workflow'];
