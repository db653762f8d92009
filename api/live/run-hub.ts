// All readers of this process, who wait for runs or follow them, share one listening connection, and one loop that
// reads the runs that have changed. A run is read once for all of its readers, and never without a reader. ADR 16.
import { randomUUID } from 'node:crypto';
import type { Logger } from '../../telemetry/logger.js';
import type { Database } from '../../db/core/client.js';
import { renewWatches, watchRuns, type RunState } from '../../db/watches/run-watches-repository.js';
import { readDeltaMessage, runOfMessage } from '../../db/runs/run-deltas-repository.js';
import { NEVER_WAITS, type ByteBudget } from '../../memory/byte-budget.js';
import { pause } from '../loops/background-loop.js';
import type { EventTail } from './event-tail.js';
import { lookAtStates, lookForDeltas, lookForEvents } from './run-looks.js';
import { RunTexts } from './run-texts.js';
import { WatchedRuns, type RunReader, type Readers } from './watched-runs.js';

interface HubOptions {
  db: Database;
  memory: ByteBudget;
  logger: Logger;
  /** Called with the number of readers whenever it changes. */
  onReaders: (readers: Readers) => void;
}

interface Following {
  /** The deltas of the run's models; undefined for a reader that did not request deltas. */
  texts(): RunTexts | undefined;
  tail(): EventTail | undefined;
  end(): void;
}

/** Changes that are notified within this time are read together. */
const GATHER_MS = 15;
/**
 * A change whose statement started before the run was watched is not notified (`watchRuns`), so the run is read again
 * after this time.
 */
const SECOND_LOOK_MS = 60;
const RENEW_MS = 20_000;
/**
 * The interval at which the states, events and deltas of all runs are read, in case a notification was lost; shorter
 * while the listening connection is down.
 */
const COMPARE_MS = 5_000;
const COMPARE_UNNOTIFIED_MS = 500;
const AFTER_FAILURE_MS = 500;
const RUNS_AT_ONCE = 200;
/** If there are fewer readers than this, each one waits for the whole time that it requested. */
const CROWD = 100;
const SPREAD = 0.3;

export class RunHub {
  readonly #db: Database;
  readonly #memory: ByteBudget;
  readonly #logger: Logger;
  readonly #id = randomUUID();
  readonly #runs: WatchedRuns;
  /** The runs whose watches must be stored before the database sends the notifications that their readers need. */
  readonly #unregistered = createRunSet();
  /** The runs whose new events are to be read, because they may have changed. */
  readonly #withNews = createRunSet();
  /**
   * The runs whose state is to be read: they may have changed, or have a new reader that may have read an older state.
   */
  readonly #withAnyState = createRunSet();
  /** The runs that may have deltas in the table that no notification has brought. */
  readonly #withDeltas = createRunSet();
  readonly #stopped = new AbortController();
  readonly #loop: Promise<void>;
  #isListening = false;
  /** True if there may be rows of this process in `run_watches`. */
  #isRegistered = false;
  #renewAtMs = 0;
  #compareAtMs = 0;
  #wake: () => void = () => undefined;

  constructor({ db, memory, logger, onReaders }: HubOptions) {
    this.#db = db;
    this.#memory = memory;
    this.#logger = logger;
    this.#runs = new WatchedRuns(onReaders);
    this.#loop = this.#repeat();
  }

  /** True if the user must not wait: there are too many readers (in all or of this user), or the process stops. */
  isFullFor(userId: number): boolean {
    return this.isStopping || !this.#runs.hasRoomFor(userId);
  }

  /**
   * Returns the time that a reader waits. If there are many readers, it is up to 30 % shorter than `waitMs`, at random:
   * with equal times, a thousand readers that started together would be answered together and delay all others.
   */
  spread(waitMs: number): number {
    return this.#runs.readers > CROWD ? waitMs * (1 - SPREAD * Math.random()) : waitMs;
  }

  get isStopping(): boolean {
    return this.#stopped.signal.aborted;
  }

  /**
   * Calls `onState` with the run's state after every read, soon for the first time, and with undefined when the hub
   * stops. Returns a function that ends the watch.
   */
  watch(reader: RunReader, onState: (state: RunState | undefined) => void): () => void {
    this.#registerChanges(reader.runId);
    this.#withAnyState.add(reader.runId);
    this.#wake();
    return this.#runs.watch(reader, onState);
  }

  /**
   * Calls `onEnd` with true when the run has ended, even if it ended before this call, and with false when the hub
   * stops. For this reader, other changes of the run are neither notified nor read. Returns a function that ends the
   * wait.
   */
  awaitEnd(reader: RunReader, onEnd: (hasEnded: boolean) => void): () => void {
    if (!this.#runs.has(reader.runId)) this.#unregistered.add(reader.runId);
    this.#withAnyState.add(reader.runId);
    this.#wake();
    return this.#runs.await(reader, onEnd);
  }

  /**
   * Calls `onNews` when there may be new events, and when the hub stops. With deltas, also when a model has written
   * something.
   */
  follow(reader: RunReader, onNews: () => void, withDeltas = false): Following {
    const { runId } = reader;
    this.#registerChanges(runId);
    const end = this.#runs.follow(reader, onNews);
    if (this.#runs.get(runId)?.tail === undefined) this.#lookAt(runId);
    const reading = withDeltas ? this.#runs.readTexts(runId, onNews, () => this.#openTexts(reader)) : undefined;
    const leave = (): void => {
      reading?.leave();
      end();
    };
    return { tail: () => this.#runs.get(runId)?.tail, texts: () => reading?.texts, end: leave };
  }

  /** Receives the notification of `writeDeltas`: a model of a run has written something. */
  wrote(message: string): void {
    const runId = runOfMessage(message);
    const texts = this.#runs.get(runId)?.texts;
    if (texts === undefined) return;
    const delta = readDeltaMessage(message);
    if (delta !== undefined && texts.add(delta)) texts.notify();
    else this.#readDeltas(runId);
  }

  /** Receives the notification that the run may have changed. */
  changed(runId: string): void {
    if (this.#runs.has(runId)) this.#lookAt(runId);
  }

  /** Reports the state of the listening connection. Earlier notifications may be lost, so all runs are read. */
  listening(isListening: boolean): void {
    this.#isListening = isListening;
    // The rows of `run_watches` do not survive a crash of the database.
    this.#unregistered.add(...this.#runs.ids);
    this.#withDeltas.add(...this.#runs.ids);
    this.#compareAtMs = 0;
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#runs.endAll();
    this.#wake();
    await this.#loop;
  }

  /** Registers the run if nobody reads its changes yet, even if readers already wait for its end. */
  #registerChanges(runId: string): void {
    if (!this.#runs.hasChangesRead(runId)) this.#unregistered.add(runId);
  }

  /** The memory is accounted to the first reader of the deltas. */
  #openTexts({ runId, userId }: RunReader): RunTexts {
    this.#unregistered.add(runId);
    this.#readDeltas(runId);
    return new RunTexts(this.#memory.lease(`user:${userId}`, NEVER_WAITS));
  }

  #readDeltas(runId: string): void {
    this.#withDeltas.add(runId);
    this.#wake();
  }

  #lookAt(runId: string): void {
    this.#withNews.add(runId);
    this.#withAnyState.add(runId);
    this.#wake();
  }

  /**
   * Pauses after each round for as long as the round took, so that the reads of a large run occupy their connections
   * for at most half of the time.
   */
  async #repeat(): Promise<void> {
    let tookMs = 0;
    while (!this.isStopping) {
      const sets = [this.#unregistered, this.#withNews, this.#withAnyState, this.#withDeltas];
      if (sets.every((set) => set.isEmpty())) await this.#untilWoken();
      await pause(Math.max(GATHER_MS, tookMs), this.#stopped.signal);
      if (this.isStopping) return;
      const startedAtMs = performance.now();
      try {
        await this.#round(startedAtMs);
      } catch (error) {
        this.#logger.warn({ err: error }, 'the runs that readers wait for could not be read; they are read again');
        await pause(AFTER_FAILURE_MS, this.#stopped.signal);
      }
      tookMs = performance.now() - startedAtMs;
    }
  }

  async #round(nowMs: number): Promise<void> {
    if (nowMs >= this.#compareAtMs) {
      this.#withNews.add(...this.#runs.ids);
      this.#withAnyState.add(...this.#runs.ids);
      this.#withDeltas.add(...this.#runs.ids);
      this.#compareAtMs = nowMs + (this.#isListening ? COMPARE_MS : COMPARE_UNNOTIFIED_MS);
    }
    await this.#inBatches(this.#unregistered, (ids) => this.#registerWatches(ids));
    const looks = await Promise.allSettled([
      this.#inBatches(this.#withNews, (ids) => lookForEvents(this.#db, this.#runs, ids)),
      this.#inBatches(this.#withAnyState, (ids) => lookAtStates(this.#db, this.#runs, ids)),
      this.#inBatches(this.#withDeltas, (ids) => lookForDeltas(this.#db, this.#runs, ids)),
    ]);
    for (const look of looks) if (look.status === 'rejected') throw look.reason;
    if (nowMs < this.#renewAtMs || !this.#isRegistered) return;
    await renewWatches(this.#db, this.#id, this.#runs.watches(this.#runs.ids));
    this.#isRegistered = this.#runs.ids.length > 0;
    this.#renewAtMs = nowMs + RENEW_MS;
  }

  /** Runs that are added meanwhile wait for the next round. If a batch fails, its runs and later ones are put back. */
  async #inBatches(set: ReturnType<typeof createRunSet>, work: (ids: string[]) => Promise<void>): Promise<void> {
    const ids = set.takeAll();
    for (let from = 0; from < ids.length && !this.isStopping; from += RUNS_AT_ONCE) {
      const batch = ids.slice(from, from + RUNS_AT_ONCE).filter((id) => this.#runs.has(id));
      try {
        if (batch.length > 0) await work(batch);
      } catch (error) {
        set.add(...ids.slice(from));
        throw error;
      }
    }
  }

  async #registerWatches(ids: string[]): Promise<void> {
    await watchRuns(this.#db, this.#id, this.#runs.watches(ids));
    this.#isRegistered = true;
    setTimeout(() => ids.forEach((id) => this.changed(id)), SECOND_LOOK_MS).unref();
  }

  /** Waits without a timer, and so without querying the database, if there are no readers and no registered watches. */
  #untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      const isWatching = this.#isRegistered || this.#runs.readers > 0;
      const timer = isWatching ? setTimeout(resolve, Math.max(0, this.#compareAtMs - performance.now())) : undefined;
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

interface RunSet {
  isEmpty(): boolean;
  add(...runIds: string[]): void;
  takeAll(): string[];
}

function createRunSet(): RunSet {
  const ids = new Set<string>();
  return {
    isEmpty: () => ids.size === 0,
    add(...runIds) {
      for (const id of runIds) ids.add(id);
    },
    takeAll() {
      const all = [...ids];
      ids.clear();
      return all;
    },
  };
}
