// Follows a run by server-sent events, and resumes after a broken connection.
import type { Client } from './client.js';
import { EventTooLargeError, RunNotFoundError, ServiceError } from './errors.js';
import { pause } from './pause.js';
import type { NodeResult, RunStatus } from './runs.js';

/**
 * `version` increases with each event. `node` is the entry of `pollRun` plus its `path`. `output` is the ended run's
 * output, absent if it has none.
 */
export type RunEvent =
  | { type: 'node'; version: number; node: NodeResult & { path: string } }
  | { type: 'approval'; version: number; approval: Record<string, unknown> & { request_id: string; status: string } }
  | { type: 'human_task'; version: number; task: Record<string, unknown> & { id: string; status: string } }
  | { type: 'run'; version: number; status: RunStatus; output?: unknown };

/** Model output during generation: either `text` or `tool_call`. `reset` discards all earlier output of the call. */
export interface Delta {
  id: string;
  path: string;
  attempt: number;
  step: number;
  index: number;
  text?: string;
  tool_call?: { id: string; name: string; arguments: string };
  reset?: true;
}

/** Has no version, so it cannot be resumed: after a reconnect, the service sends the text so far with `reset`. */
export interface DeltaEvent {
  type: 'delta';
  delta: Delta;
}

export interface FollowOptions {
  /** Version of the last event or poll that you have; events after it follow. By default all events of the run. */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Throws an `EventTooLargeError` for an event with more characters, which would fill the memory. */
  maxEventCharacters?: number;
}

/** Adds the output of models to the events. */
export interface WithDeltas {
  include: 'deltas';
}

export interface ReadEventsOptions extends FollowOptions {
  /** Called with the first bytes from the service. A buffering proxy delays them until the end of the stream. */
  onOpen?: () => void;
  /** Aborts the stream after this time without data; the service sends a comment every 15 seconds. */
  silenceMs?: number;
}

const PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;
/** A server that asks for a longer pause is asked again after this time. */
const MAX_ASKED_MS = 3_600_000;
/** The defaults of `readRunEvents`. Half of the largest text that JavaScript engines can hold. */
export const READ_LIMITS = { silenceMs: 45_000, maxEventCharacters: 256 * 1024 * 1024 };

/**
 * Yields every event of a run once and in order, until the run ends. Reconnects without limit; abort `signal` to stop.
 * Waits as long as a `Retry-After` says, up to an hour. Throws `RunNotFoundError`, `EventTooLargeError`, and
 * `ServiceError` if a retry cannot help (status below 500, except 429).
 */
export function followRun(
  client: Client,
  runId: string,
  options: FollowOptions & WithDeltas,
): AsyncGenerator<RunEvent | DeltaEvent>;
export function followRun(client: Client, runId: string, options?: FollowOptions): AsyncGenerator<RunEvent>;
export async function* followRun(
  client: Client,
  runId: string,
  options: FollowOptions & Partial<WithDeltas> = {},
): AsyncGenerator<RunEvent | DeltaEvent> {
  const { signal, ...rest } = options;
  let after = options.after;
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    let askedMs = 0;
    try {
      for await (const event of readRunEvents(client, runId, { ...(rest as WithDeltas), after, signal })) {
        pauseMs = PAUSE_MS;
        yield event;
        if (event.type === 'delta') continue;
        after = event.version;
        if (isRunEnd(event)) return;
      }
    } catch (error) {
      if (isFinal(error) || signal?.aborted === true) throw error;
      if (error instanceof ServiceError) askedMs = Math.min(error.retryAfterMs ?? 0, MAX_ASKED_MS);
    }
    await pause(Math.max(pauseMs, askedMs), signal);
  }
}

function isFinal(error: unknown): boolean {
  if (error instanceof ServiceError) return error.status < 500 && error.status !== 429;
  return error instanceof RunNotFoundError || error instanceof EventTooLargeError;
}

/** True if the event is the last one of its run. */
export function isRunEnd(event: RunEvent): boolean {
  return event.type === 'run' && (event.status === 'succeed' || event.status === 'failed');
}

/**
 * Yields the events of a single connection, which may end before the run does; `followRun` handles that. Throws if the
 * connection breaks or falls silent, `RunNotFoundError`, `EventTooLargeError`, and `ServiceError`.
 */
export function readRunEvents(
  client: Client,
  runId: string,
  options: ReadEventsOptions & WithDeltas,
): AsyncGenerator<RunEvent | DeltaEvent>;
export function readRunEvents(client: Client, runId: string, options?: ReadEventsOptions): AsyncGenerator<RunEvent>;
export async function* readRunEvents(
  client: Client,
  runId: string,
  options: ReadEventsOptions & Partial<WithDeltas> = {},
): AsyncGenerator<RunEvent | DeltaEvent> {
  const { after, include, signal, onOpen, silenceMs, maxEventCharacters } = { ...READ_LIMITS, ...options };
  const silence = watchSilence(silenceMs, signal);
  try {
    const body = await open(client, { id: runId, ...(include && { include }) }, after, silence.signal);
    const onBytes = (isFirst: boolean): void => {
      silence.restart();
      if (isFirst) onOpen?.();
    };
    yield* readFrames(body.getReader(), maxEventCharacters, onBytes);
  } finally {
    silence.end();
  }
}

async function open(
  client: Client,
  query: { id: string; include?: 'deltas' },
  after: number | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const { data, error, response } = await client.GET('/api/v1/workflows/workflow_result/events/', {
    params: { query },
    parseAs: 'stream',
    headers: after === undefined ? {} : { 'Last-Event-ID': String(after) },
    signal,
  });
  if (!response.ok) throw new ServiceError(response, error);
  const body = data as ReadableStream<Uint8Array> | null | undefined;
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !body) {
    await body?.cancel();
    throw new RunNotFoundError(query.id);
  }
  return body;
}

/** Returns a signal that aborts with `signal`, or if `restart` was not called for `silenceMs`. */
function watchSilence(silenceMs: number, signal?: AbortSignal) {
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal?.reason);
  const fallSilent = (): void => controller.abort(new Error(`Nothing has come for ${silenceMs} ms.`));
  let timer = setTimeout(fallSilent, silenceMs);
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    restart(): void {
      clearTimeout(timer);
      timer = setTimeout(fallSilent, silenceMs);
    },
    end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    },
  };
}

async function* readFrames(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxEventCharacters: number,
  onBytes: (isFirst: boolean) => void,
): AsyncGenerator<RunEvent | DeltaEvent> {
  const decoder = new TextDecoder();
  let isFirst = true;
  let lines: string[] = [];
  let line = '';
  let heldCharacters = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes(isFirst);
      isFirst = false;
      const [rest = '', ...more] = decoder.decode(value, { stream: true }).split('\n');
      line += rest;
      for (const next of more) {
        // An empty line ends a frame.
        const event = line === '' ? toEvent(lines) : undefined;
        if (event !== undefined) yield event;
        if (line === '') [lines, heldCharacters] = [[], 0];
        else if (!line.startsWith(':')) {
          lines.push(line);
          heldCharacters += line.length;
        }
        line = next;
      }
      if (heldCharacters + line.length > maxEventCharacters) throw new EventTooLargeError(maxEventCharacters);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function toEvent(lines: string[]): RunEvent | DeltaEvent | undefined {
  const fields = new Map(lines.map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 2)]));
  const version = Number(fields.get('id'));
  const data = JSON.parse(fields.get('data') ?? 'null') as never;
  const type = fields.get('event');
  if (type === 'delta') return { type, delta: data };
  if (type === 'node') return { type, version, node: data };
  if (type === 'approval') return { type, version, approval: data };
  if (type === 'human_task') return { type, version, task: data };
  if (type === 'run') {
    const { status, ...rest } = data as { status: RunStatus; output?: unknown };
    return { type, version, status, ...('output' in rest ? { output: rest.output } : {}) };
  }
  return undefined;
}
