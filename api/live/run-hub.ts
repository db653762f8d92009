// All who wait for runs in this process share one connection that listens, and one loop that looks at the runs that
// have changed. A run is looked at once, however many wait for it, and never if nobody does. ADR 16.
import { randomUUID } from 'node:crypto';
import type { Logger } from '../../telemetry/logger.js';
import type { Database } from '../../db/core/client.js';
import { keepWatches, watchRuns, type RunState } from '../../db/watches/run-watches-repository.js';
import { readDeltaMessage, runOfMessage } from '../../db/runs/run-deltas-repository.js';
import { NEVER_WAITS, type ByteBudget } from '../../memory/byte-budget.js';
import { pause } from '../loops/background-loop.js';
import type { EventTail } from './event-tail.js';
import { lookAtStates, lookForDeltas, lookForEvents } from './run-looks.js';
import { RunTexts } from './run-texts.js';
import { WatchedRuns, type RunReader, type Readers } from './watched-runs.js';

interface HubOptions {
  db: Database;
  /** For what models write. */
  memory: ByteBudget;
  logger: Logger;
  /** Given the number of those who wait whenever it changes. */
  onReaders: (readers: Readers) => void;
}

interface Following {
  /** What the models of the run write; undefined for who does not want it. */
  texts(): RunTexts | undefined;
  /** Undefined before the first look. */
  tail(): EventTail | undefined;
  end(): void;
}

/** Messages that come together are looked after together. */
const GATHER_MS = 15;
/** A change whose statement began before the run was watched is not told (`watchRuns`). */
const SECOND_LOOK_MS = 60;
const RENEW_MS = 20_000;
/** All runs are compared this often, for what was never told; more often while nothing is told. */
const COMPARE_MS = 5_000;
const COMPARE_DEAF_MS = 500;
const AFTER_FAILURE_MS = 500;
const RUNS_AT_ONCE = 200;
/** Each waits as long as it asked for if fewer wait than this. */
const CROWD = 100;
const SPREAD = 0.3;

export class RunHub {
  readonly #db: Database;
  readonly #memory: ByteBudget;
  readonly #logger: Logger;
  readonly #id = randomUUID();
  readonly #runs: WatchedRuns;
  /** The runs whose changes are not told yet. */
  readonly #unregistered = createRunSet();
  /** The runs whose events are to be looked for: they may have changed. */
  readonly #withNews = createRunSet();
  /**
   * The runs whose state is to be looked at: they may have changed, or somebody new waits, who may have read an older
   * state.
   */
  readonly #withAnyState = createRunSet();
  /** The runs of which deltas are in the table that no message has told. */
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

  /** Returns whether the user is not to be kept waiting: too many wait, or the process stops. */
  isFullFor(userId: number): boolean {
    return this.isStopping || !this.#runs.hasRoomFor(userId);
  }

  /**
   * Returns how long somebody waits who asks for `waitMs`. A crowd waits up to 30 % less, at random: a thousand who
   * began to wait together would be answered together, and everybody else would wait for that.
   */
  spread(waitMs: number): number {
    return this.#runs.readers > CROWD ? waitMs * (1 - SPREAD * Math.random()) : waitMs;
  }

  get isStopping(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** `onState` gets the run's state at every look, the first one soon; undefined when the hub stops. Returns what ends it. */
  watch(reader: RunReader, onState: (state: RunState | undefined) => void): () => void {
    this.#register(reader.runId);
    this.#withAnyState.add(reader.runId);
    this.#wake();
    return this.#runs.watch(reader, onState);
  }

  /**
   * Follows each event: `onNews` is called when there may be some, and when the hub stops. With deltas, also when a model has
   * written something.
   */
  follow(reader: RunReader, onNews: () => void, withDeltas = false): Following {
    const { runId } = reader;
    this.#register(runId);
    const end = this.#runs.follow(reader, onNews);
    if (this.#runs.get(runId)?.tail === undefined) this.#lookAt(runId);
    const reading = withDeltas ? this.#runs.readTexts(runId, onNews, () => this.#openTexts(reader)) : undefined;
    const leave = (): void => {
      reading?.leave();
      end();
    };
    return { tail: () => this.#runs.get(runId)?.tail, texts: () => reading?.texts, end: leave };
  }

  /** A model of a run has written something: the message of `writeDeltas`. */
  wrote(message: string): void {
    const runId = runOfMessage(message);
    const texts = this.#runs.get(runId)?.texts;
    if (texts === undefined) return;
    const delta = readDeltaMessage(message);
    if (delta !== undefined && texts.add(delta)) texts.tell();
    else this.#readDeltas(runId);
  }

  /** The run may have changed. */
  changed(runId: string): void {
    if (this.#runs.has(runId)) this.#lookAt(runId);
  }

  /** Says whether changes are told from now on. What was told before may be lost, so all runs are compared. */
  listening(isListening: boolean): void {
    this.#isListening = isListening;
    // The rows of `run_watches` do not outlive a crash of the database.
    this.#unregistered.add(...this.#runs.ids);
    this.#withDeltas.add(...this.#runs.ids);
    this.#compareAtMs = 0;
    this.#wake();
  }

  /** Ends all waiting at once. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#runs.endAll();
    this.#wake();
    await this.#loop;
  }

  #register(runId: string): void {
    if (!this.#runs.has(runId)) this.#unregistered.add(runId);
  }

  /** Its memory is held for the first who reads. */
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

  /** Looks follow each other at a distance of their own length, so that a large run takes half of a connection at most. */
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
        this.#logger.warn({ err: error }, 'runs that are waited for could not be read; they will be');
        await pause(AFTER_FAILURE_MS, this.#stopped.signal);
      }
      tookMs = performance.now() - startedAtMs;
    }
  }

  async #round(nowMs: number): Promise<void> {
    if (nowMs >= this.#compareAtMs) {
      this.#withNews.add(...this.#runs.ids);
      this.#withAnyState.add(...this.#runs.ids);
      this.#compareAtMs = nowMs + (this.#isListening ? COMPARE_MS : COMPARE_DEAF_MS);
    }
    await this.#inBatches(this.#unregistered, (ids) => this.#tellFromNowOn(ids));
    const looks = await Promise.allSettled([
      this.#inBatches(this.#withNews, (ids) => lookForEvents(this.#db, this.#runs, ids)),
      this.#inBatches(this.#withAnyState, (ids) => lookAtStates(this.#db, this.#runs, ids)),
      this.#inBatches(this.#withDeltas, (ids) => lookForDeltas(this.#db, this.#runs, ids)),
    ]);
    for (const look of looks) if (look.status === 'rejected') throw look.reason;
    if (nowMs < this.#renewAtMs || !this.#isRegistered) return;
    await keepWatches(this.#db, this.#id, this.#runs.watches(this.#runs.ids));
    this.#isRegistered = this.#runs.ids.length > 0;
    this.#renewAtMs = nowMs + RENEW_MS;
  }

  /** Runs that are added meanwhile are for the next round. Runs of a batch that fails stay in the set. */
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

  async #tellFromNowOn(ids: string[]): Promise<void> {
    await watchRuns(this.#db, this.#id, this.#runs.watches(ids));
    this.#isRegistered = true;
    setTimeout(() => ids.forEach((id) => this.changed(id)), SECOND_LOOK_MS).unref();
  }

  /** A process in which nobody waits asks the database nothing. */
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
  /** Empties the set. */
  takeAll(): string[];
}

/** Ids of runs, each once, in the order in which they were first added. */
function createRunSet(): RunSet {
  const ids = new Set<string>();
  return {
    isEmpty: () => ids.size === 0,
    add(...runIds) {
      for (const id of runIds) ids.add(id);
    },
    takeAll() {
      const taken = [...ids];
      ids.clear();
      return taken;
    },
  };
}
