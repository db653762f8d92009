// Follows a run to its end by its event stream, or by polls if streams do not get through.
import {
  isRunEnd,
  RunNotFoundError,
  ServiceError,
  type RunEvent,
  type VersionedState,
} from '../../clients/typescript/src/index.js';
import { hasEnded } from './live-run.js';

/** `live`: a stream has opened. `polling`: streams break, so the state is polled. `lost`: the last poll has failed. */
export type Connection = 'connecting' | 'live' | 'polling' | 'lost';

export interface RunSource {
  /** Reads the events after version `after` from one connection. Calls `onOpen` when the service starts to send. */
  read: (after: number | undefined, onOpen: () => void, signal: AbortSignal) => AsyncIterable<RunEvent>;
  /** Polls the state. With `etag`, waits for a different state, and resolves to undefined if there is none. */
  poll: (etag: string | undefined, signal: AbortSignal) => Promise<VersionedState | undefined>;
  /** Pauses; may end early if the service is likely to be reachable again. */
  pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

interface RunSink {
  onState: (state: VersionedState) => void;
  onEvent: (event: RunEvent) => void;
  onConnection: (connection: Connection) => void;
}

/**
 * A stream that sends nothing for this long at its start is aborted, because something on the way may hold it back, for
 * example a buffering proxy.
 */
const OPENING_MS = 10_000;
/** A stream that stayed open for this long works, even if it sent no event. */
const HELD_MS = 20_000;
/** Number of consecutive streams without events after which polling starts. */
const MAX_BROKEN = 2;
/** Number of polls between attempts to stream. */
const POLLS_BETWEEN = 20;
const PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

/**
 * Reads the state first, then the events after version `after`, which defaults to the state's version. Returns when the
 * run has ended or `signal` is aborted. Throws `RunNotFoundError`, and `ServiceError` if a retry cannot help (status
 * below 500 except 429).
 */
export async function watchRun(source: RunSource, sink: RunSink, signal: AbortSignal, after?: number): Promise<void> {
  const watch = new Watch(source, sink, signal, after);
  sink.onConnection('connecting');
  while (!signal.aborted && !(await watch.step()));
}

class Watch {
  readonly #source: RunSource;
  readonly #sink: RunSink;
  readonly #signal: AbortSignal;
  #after: number | undefined;
  #etag: string | undefined;
  #broken = 0;
  #polls = 0;
  #pauseMs = PAUSE_MS;
  #isKnown = false;

  constructor(source: RunSource, sink: RunSink, signal: AbortSignal, after: number | undefined) {
    this.#source = source;
    this.#sink = sink;
    this.#signal = signal;
    this.#after = after;
  }

  /** Makes one attempt to read updates. Returns true at the end of the run, and once `signal` is aborted. */
  async step(): Promise<boolean> {
    try {
      if (!this.#isKnown || this.#broken > 0) {
        if (await this.#poll()) return true;
      }
      return this.#broken < MAX_BROKEN ? await this.#stream() : false;
    } catch (error) {
      if (this.#signal.aborted) return true;
      if (isFinal(error)) throw error;
      // Streams break more often than polls. The connection only counts as lost if a poll fails as well.
      if (error instanceof StreamError) return false;
      this.#sink.onConnection('lost');
      await this.#pause();
      return false;
    }
  }

  async #poll(): Promise<boolean> {
    const isInPlaceOfStream = this.#broken >= MAX_BROKEN;
    const askedAtMs = performance.now();
    const state = await this.#source.poll(isInPlaceOfStream ? this.#etag : undefined, this.#signal);
    this.#pauseMs = PAUSE_MS;
    this.#isKnown = true;
    if (isInPlaceOfStream) {
      this.#sink.onConnection('polling');
      this.#polls += 1;
      if (this.#polls % POLLS_BETWEEN === 0) this.#broken = MAX_BROKEN - 1;
    }
    if (state === undefined) {
      // The service answers without waiting if too many requests wait already, or while a process stops.
      if (performance.now() - askedAtMs < PAUSE_MS) await this.#pause();
      return false;
    }
    if (state.status === 'not found') throw new RunNotFoundError(state.id);
    this.#etag = state.etag;
    // A later state does not move `#after`: a state lacks the nodes inside loops, so the stream must still send the
    // events between `#after` and that state.
    this.#after ??= state.version;
    this.#sink.onState(state);
    return hasEnded(state);
  }

  async #stream(): Promise<boolean> {
    const opening = new AbortController();
    const timer = setTimeout(() => opening.abort(new Error('The stream did not begin.')), OPENING_MS);
    const onOpen = (): void => {
      clearTimeout(timer);
      this.#sink.onConnection('live');
    };
    const wasBroken = this.#broken;
    this.#broken += 1;
    const openedAtMs = performance.now();
    try {
      for await (const event of this.#source.read(this.#after, onOpen, anyOf(this.#signal, opening.signal))) {
        this.#broken = 0;
        this.#after = event.version;
        this.#sink.onEvent(event);
        if (isRunEnd(event)) return true;
      }
    } catch (error) {
      if (isFinal(error) || this.#signal.aborted) throw error;
      throw new StreamError('The stream has broken.', { cause: error });
    } finally {
      clearTimeout(timer);
      if (performance.now() - openedAtMs > HELD_MS) this.#broken = 0;
      if (wasBroken > 0 && this.#broken > 0 && !this.#signal.aborted) await this.#pause();
    }
    return false;
  }

  async #pause(): Promise<void> {
    const ms = this.#pauseMs;
    this.#pauseMs = Math.min(2 * ms, MAX_PAUSE_MS);
    await this.#source.pause(ms, this.#signal).catch(() => undefined);
  }
}

class StreamError extends Error {}

function isFinal(error: unknown): boolean {
  return (
    error instanceof RunNotFoundError || (error instanceof ServiceError && error.status < 500 && error.status !== 429)
  );
}

function anyOf(one: AbortSignal, other: AbortSignal): AbortSignal {
  const controller = new AbortController();
  for (const signal of [one, other]) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}
