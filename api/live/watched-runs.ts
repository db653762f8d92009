import type { RunState, Watch } from '../../db/watches/run-watches-repository.js';
import type { EventTail } from './event-tail.js';
import type { RunTexts } from './run-texts.js';

interface WatchedRun {
  /** Readers who wait for a state are called with undefined when nobody is to wait any longer. */
  watchers: Set<(state: RunState | undefined) => void>;
  /** Readers who want each event are called when there may be some, and when nobody is to wait any longer. */
  followers: Set<() => void>;
  /** Undefined while nobody follows the run, and before the first look for events. */
  tail: EventTail | undefined;
  /** Undefined while nobody reads what its models write. */
  texts: RunTexts | undefined;
}

/** A reader and the run that is read. */
export interface RunReader {
  runId: string;
  userId: number;
}

export interface Readers {
  waiting: number;
  following: number;
}

/** A process takes 4,000 connections; the rest is for those who do not wait. */
const MAX_READERS = 3_000;
/** The limit keeps one user from keeping all others from waiting. */
const MAX_READERS_OF_ONE = 2_000;

/** The runs that somebody in this process waits for, by their ids. */
export class WatchedRuns {
  readonly #runs = new Map<string, WatchedRun>();
  readonly #onReaders: (readers: Readers) => void;
  readonly #readers: Readers = { waiting: 0, following: 0 };
  /** The number of waiting requests by user; a user without any is not in it. */
  readonly #readersOf = new Map<number, number>();

  constructor(onReaders: (readers: Readers) => void) {
    this.#onReaders = onReaders;
  }

  get readers(): number {
    return this.#readers.waiting + this.#readers.following;
  }

  hasRoomFor(userId: number): boolean {
    return this.readers < MAX_READERS && (this.#readersOf.get(userId) ?? 0) < MAX_READERS_OF_ONE;
  }

  get ids(): string[] {
    return [...this.#runs.keys()];
  }

  /** Those among the runs that are watched. */
  watches(runIds: string[]): Watch[] {
    return runIds.flatMap((runId) => {
      const run = this.#runs.get(runId);
      return run === undefined ? [] : [{ runId, deltas: run.texts !== undefined }];
    });
  }

  get(runId: string): WatchedRun | undefined {
    return this.#runs.get(runId);
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Returns what ends it, which may be called more than once. */
  watch({ runId, userId }: RunReader, onState: (state: RunState | undefined) => void): () => void {
    this.#enter({ runId, userId }, 'waiting').watchers.add(onState);
    return this.#leaver({ runId, userId }, 'waiting', ({ watchers }) => watchers.delete(onState));
  }

  follow({ runId, userId }: RunReader, onNews: () => void): () => void {
    this.#enter({ runId, userId }, 'following').followers.add(onNews);
    return this.#leaver({ runId, userId }, 'following', ({ followers }) => followers.delete(onNews));
  }

  /** Also wants what the models of a run write that it follows. `open` is called for the first one who does. */
  readTexts(runId: string, onNews: () => void, open: () => RunTexts): { texts: RunTexts; leave: () => void } {
    const run = this.#runs.get(runId)!;
    const texts = (run.texts ??= open());
    texts.readers.add(onNews);
    const leave = (): void => {
      if (!texts.readers.delete(onNews) || texts.readers.size > 0) return;
      texts.end();
      if (run.texts === texts) run.texts = undefined;
    };
    return { texts, leave };
  }

  endAll(): void {
    for (const { watchers, followers } of this.#runs.values()) {
      for (const onState of watchers) onState(undefined);
      for (const onNews of followers) onNews();
    }
  }

  #enter({ runId, userId }: RunReader, kind: keyof Readers): WatchedRun {
    const run = this.#runs.get(runId) ?? {
      watchers: new Set(),
      followers: new Set(),
      tail: undefined,
      texts: undefined,
    };
    this.#runs.set(runId, run);
    this.#count(userId, kind, 1);
    return run;
  }

  #count(userId: number, kind: keyof Readers, change: 1 | -1): void {
    this.#readers[kind] += change;
    const ofUser = (this.#readersOf.get(userId) ?? 0) + change;
    if (ofUser === 0) this.#readersOf.delete(userId);
    else this.#readersOf.set(userId, ofUser);
    this.#onReaders(this.#readers);
  }

  #leaver({ runId, userId }: RunReader, kind: keyof Readers, remove: (run: WatchedRun) => boolean): () => void {
    return () => {
      const run = this.#runs.get(runId);
      if (run === undefined || !remove(run)) return;
      this.#count(userId, kind, -1);
      if (run.followers.size === 0) run.tail = undefined;
      if (run.watchers.size + run.followers.size === 0) this.#runs.delete(runId);
    };
  }
}
