import type { components } from './openapi.js';

export { createClient, unwrap, type Client, type ClientOptions } from './client.js';
export { EventTooLargeError, RunNotFoundError, RunRefusedError, RunTimeoutError, ServiceError } from './errors.js';
export {
  followRun,
  isRunEnd,
  readRunEvents,
  type Delta,
  type DeltaEvent,
  type FollowOptions,
  type ReadEventsOptions,
  type RunEvent,
  type WithDeltas,
} from './events.js';
export { createIdempotencyKey } from './idempotency-key.js';
export { createRetryingFetch, type RetryOptions } from './retrying-fetch.js';
export { type TokenSource } from './session-fetch.js';
export {
  contentOf,
  pollRun,
  pollRunChange,
  reRun,
  resumeRun,
  runToEnd,
  startRun,
  waitForRun,
  type ChangeOptions,
  type FinishedRun,
  type NodeResult,
  type ReRunOptions,
  type ResumeOptions,
  type RunState,
  type RunStatus,
  type StartOptions,
  type VersionedState,
  type WaitOptions,
} from './runs.js';
export type { components, operations, paths } from './openapi.js';

export type Project = components['schemas']['Project'];
export type Run = components['schemas']['Run'];
export type RunEnvelope = components['schemas']['RunEnvelope'];
export type Workflow = components['schemas']['Workflow'];
