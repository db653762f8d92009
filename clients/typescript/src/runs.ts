// A run from its start to its end.
import { unwrap, type Client } from './client.js';
import { RunNotFoundError, RunRefusedError, RunTimeoutError, ServiceError } from './errors.js';
import { createIdempotencyKey } from './idempotency-key.js';
import type { components } from './openapi.js';
import { pause } from './pause.js';

export type NodeResult = components['schemas']['NodeResult'];
export type RunStatus = components['schemas']['RunEnvelope']['data']['status'];

export interface RunState {
  id: string;
  status: RunStatus;
  /** The nodes that have started, by their ids. */
  nodes: Record<string, NodeResult>;
  /** The value of the run's first output node that has ended, which never changes; absent while there is none. */
  output?: unknown;
}

export interface FinishedRun extends RunState {
  status: 'succeed' | 'failed';
}

export interface WaitOptions {
  /** The longest pause between two polls; it begins with a tenth of that. The service recommends 3 to 5 seconds. */
  pollIntervalMs?: number;
  /** Then a `RunTimeoutError`; without it there is no end. The run itself goes on. */
  timeoutMs?: number;
  /** Stops the waiting, not the run. */
  signal?: AbortSignal;
  /** After every poll: progress, approval requests. Waited for. Without it the polls wait for the end of the run. */
  onState?: (state: RunState) => void | Promise<void>;
}

export interface StartOptions {
  /** Of your own making where your process may die and ask again; else one is made. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

const POLL_INTERVAL_MS = 3_000;
/** `not found` may pass: an answer may come before the run is stored. Not for ever, though. */
const MAX_NOT_FOUND = 5;
/** The interface allows a terminal status to be seen before its data: three more polls, this far apart. */
const MAX_EMPTY = 3;
const EMPTY_PAUSE_MS = 2_500;
/** The service takes 55; some proxies cut what is silent for 30. */
const MAX_WAIT_SECONDS = 25;

/** Answers the run's id. Throws `RunRefusedError` where the drawing or the input is not valid. */
export async function startRun(
  client: Client,
  workflowId: number,
  input: unknown = {},
  { idempotencyKey = createIdempotencyKey(), signal }: StartOptions = {},
): Promise<string> {
  const envelope = await unwrap(
    client.POST('/api/v1/workflows/{id}/run/', {
      params: { path: { id: workflowId }, header: { 'Idempotency-Key': idempotencyKey } },
      body: client.usesSessionToken ? { input_data: input } : input,
      // A text is JSON too: it stays a text, and arrives as `__raw_input__`.
      bodySerializer: (body) => JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
      ...(signal === undefined ? {} : { signal }),
    }),
  );
  if (envelope.status !== 201 || envelope.data.id === null) throw new RunRefusedError(envelope);
  return envelope.data.id;
}

export interface ReRunOptions extends StartOptions {
  /** In place of the earlier run's input. */
  input?: unknown;
}

/**
 * Runs the workflow as it is now once more, with the input of an earlier run or with another one. Answers the new run's id.
 * Throws `ServiceError` where the workflow or the input is not valid (400).
 */
export async function reRun(
  client: Client,
  workflowId: number,
  runId: string,
  { input, idempotencyKey = createIdempotencyKey(), signal }: ReRunOptions = {},
): Promise<string> {
  const given = client.usesSessionToken ? { input_data: input } : input;
  const { data } = await unwrap(
    client.POST('/api/v1/workflows/{id}/history/{run_id}/re-run/', {
      params: { path: { id: workflowId, run_id: runId }, header: { 'Idempotency-Key': idempotencyKey } },
      ...(input === undefined ? {} : { body: given, bodySerializer: (body: unknown) => JSON.stringify(body) }),
      headers: { 'Content-Type': 'application/json' },
      ...(signal === undefined ? {} : { signal }),
    }),
  );
  return data.id!;
}

export interface ResumeOptions extends StartOptions {
  /** The nodes that begin anew, with all that follow them; without them, what failed, was cancelled or never ran. */
  from?: string[];
  /** `now`: results are kept only where the drawing is as it was. */
  drawing?: 'then' | 'now';
  /** Whether calls are repeated of which nobody knows what they have done (`outcome_unknown`). */
  acceptUnknown?: boolean;
}

/**
 * Starts a run that takes over the results of an earlier one and executes what is left. Answers the new run's id. Throws
 * `ServiceError` where that is not possible (400).
 */
export async function resumeRun(
  client: Client,
  workflowId: number,
  runId: string,
  {
    from,
    drawing = 'then',
    acceptUnknown = false,
    idempotencyKey = createIdempotencyKey(),
    signal,
  }: ResumeOptions = {},
): Promise<string> {
  const { data } = await unwrap(
    client.POST('/api/v1/workflows/{id}/history/{run_id}/resume/', {
      params: { path: { id: workflowId, run_id: runId }, header: { 'Idempotency-Key': idempotencyKey } },
      body: { drawing, accept_unknown: acceptUnknown, ...(from === undefined ? {} : { from }) },
      ...(signal === undefined ? {} : { signal }),
    }),
  );
  return data.id!;
}

/** Polls until the run has ended, well or not: look at `status`. */
export async function waitForRun(client: Client, runId: string, options: WaitOptions = {}): Promise<FinishedRun> {
  const { pollIntervalMs = POLL_INTERVAL_MS, timeoutMs = Infinity, signal, onState } = options;
  const startedAt = Date.now();
  let [notFound, empty] = [0, 0];
  for (let delayMs = pollIntervalMs / 10; ; delayMs = Math.min(delayMs * 1.5, pollIntervalMs)) {
    const leftBeforeMs = timeoutMs - (Date.now() - startedAt);
    const waitSeconds = onState === undefined ? Math.min(MAX_WAIT_SECONDS, Math.floor(leftBeforeMs / 1000)) : 0;
    const state = await pollRun(client, runId, signal, waitSeconds);
    await onState?.(state);
    if (isFinished(state)) {
      if (Object.keys(state.nodes).length > 0 || empty >= MAX_EMPTY) return state;
      empty += 1;
    }
    notFound = state.status === 'not found' ? notFound + 1 : 0;
    if (notFound > MAX_NOT_FOUND) throw new RunNotFoundError(runId);
    const leftMs = timeoutMs - (Date.now() - startedAt);
    if (leftMs <= 0) throw new RunTimeoutError(runId, timeoutMs);
    await pause(Math.min(isFinished(state) ? EMPTY_PAUSE_MS : delayMs, leftMs), signal);
  }
}

/** Starts a run and waits for its end. Asked again with the same `idempotencyKey` it finds the run that is there. */
export async function runToEnd(
  client: Client,
  workflowId: number,
  input: unknown = {},
  options: StartOptions & WaitOptions = {},
): Promise<FinishedRun> {
  return waitForRun(client, await startRun(client, workflowId, input, options), options);
}

/** The state of a run as it is now, or, when it ends within `waitSeconds`, at its end. */
export async function pollRun(client: Client, runId: string, signal?: AbortSignal, waitSeconds = 0): Promise<RunState> {
  const { data } = await unwrap(
    client.GET('/api/v1/workflows/workflow_result/', {
      params: { query: { id: runId } },
      headers: waitSeconds >= 1 ? { Prefer: `wait=${waitSeconds}` } : {},
      ...(signal === undefined ? {} : { signal }),
    }),
  );
  return { id: runId, status: data.status, nodes: data.data ?? {}, ...outputOf(data) };
}

/** A state of a run with its place in the run's life. */
export interface VersionedState extends RunState {
  /** Rises with every change of the run; undefined for `not found`. */
  version: number | undefined;
  /** Names this answer: `etag` of the next call. */
  etag: string | undefined;
}

export interface ChangeOptions {
  /** Of the state that you have. Without it the state comes at once. */
  etag?: string | undefined;
  /** How long the answer may take while nothing changes; 25 at most pass most proxies. */
  waitSeconds?: number;
  signal?: AbortSignal | undefined;
}

/** The state of a run as soon as it is another one than that of `etag`; undefined where nothing has changed. */
export async function pollRunChange(
  client: Client,
  runId: string,
  { etag, waitSeconds = MAX_WAIT_SECONDS, signal }: ChangeOptions = {},
): Promise<VersionedState | undefined> {
  const { data, error, response } = await client.GET('/api/v1/workflows/workflow_result/', {
    params: { query: { id: runId } },
    headers: etag === undefined ? {} : { 'If-None-Match': etag, Prefer: `wait=${waitSeconds}` },
    // A browser would answer a 304 from its own store.
    cache: 'no-store',
    ...(signal === undefined ? {} : { signal }),
  });
  if (response.status === 304) return undefined;
  if (data === undefined) throw new ServiceError(response, error);
  const { status, version, data: nodes } = data.data;
  const tag = response.headers.get('etag') ?? undefined;
  return { id: runId, status, version, nodes: nodes ?? {}, etag: tag, ...outputOf(data.data) };
}

/** The key is absent where there is no output: `null` is one. */
function outputOf(data: { output?: unknown }): Pick<RunState, 'output'> {
  return 'output' in data ? { output: data.output } : {};
}

/** The text that a node gave; undefined where it did not run or did not succeed. */
export function contentOf(run: RunState, nodeId: string): string | undefined {
  const result = run.nodes[nodeId]?.result as { content?: unknown } | undefined;
  return typeof result?.content === 'string' ? result.content : undefined;
}

function isFinished(state: RunState): state is FinishedRun {
  return state.status === 'succeed' || state.status === 'failed';
}
