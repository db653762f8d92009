// Follows a run to its end by its event stream, and by polls if streams do not come through.
import {
  isRunEnd,
  RunNotFoundError,
  ServiceError,
  type RunEvent,
  type VersionedState,
} from '../../clients/typescript/src/index.js';
import { hasEnded } from './live-run.js';

/**
 * `live` means that events come, `polling` that streams break on the way and the state is polled, `lost` that nothing
 * answers.
 */
export type Connection = 'connecting' | 'live' | 'polling' | 'lost';

/** The source of news of one run. */
export interface RunSource {
  /**
   * Reads the events after `after` that one connection brings. `onOpen` is called when the service has begun to send.
   */
  read: (after: number | undefined, onOpen: () => void, signal: AbortSignal) => AsyncIterable<RunEvent>;
  /** Polls the state. With an `etag` it waits for another state, and returns undefined if there is none. */
  poll: (etag: string | undefined, signal: AbortSignal) => Promise<VersionedState | undefined>;
  /** Pauses. It may end early when there is reason to believe that the service can be reached again. */
  pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

interface RunSink {
  onState: (state: VersionedState) => void;
  onEvent: (event: RunEvent) => void;
  onConnection: (connection: Connection) => void;
}

/** A stream that brings nothing for this long is held up on the way. */
const OPENING_MS = 10_000;
/** A stream that has held for this long works, even if there was nothing to send. */
const HELD_MS = 20_000;
/** After this many streams in a row that brought nothing, polls take over. */
const MAX_BROKEN = 2;
/** After this many polls a stream is tried again. */
const POLLS_BETWEEN = 20;
const PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

/**
 * Begins with the state, and goes on with the events behind the version `after`, by default behind the state. Returns
 * when the run has ended or `signal` is aborted. Throws `RunNotFoundError`, and `ServiceError` for what another
 * attempt cannot help (a status below 500).
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
  /** The number of streams in a row that brought nothing. */
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

  /** Makes one attempt to learn more. Returns true at the end of the run. */
  async step(): Promise<boolean> {
    try {
      if (!this.#isKnown || this.#broken > 0) {
        if (await this.#poll()) return true;
      }
      return this.#broken < MAX_BROKEN ? await this.#stream() : false;
    } catch (error) {
      if (this.#signal.aborted) return true;
      if (isFinal(error)) throw error;
      // A stream breaks more easily than a poll. The connection is lost only if a poll fails as well.
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
      // A busy service answers a poll at once.
      if (performance.now() - askedAtMs < PAUSE_MS) await this.#pause();
      return false;
    }
    if (state.status === 'not found') throw new RunNotFoundError(state.id);
    this.#etag = state.etag;
    // A state does not tell the nodes inside loops, so their events are read even if they are older than the state.
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
      if (wasBroken > 0 && this.#broken > 0) await this.#pause();
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

/** Returns a signal that is aborted as soon as one of the two is. */
function anyOf(one: AbortSignal, other: AbortSignal): AbortSignal {
  const controller = new AbortController();
  for (const signal of [one, other]) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}
