import type { RunState, Watch } from '../../db/watches/run-watches-repository.js';
import type { EventTail } from './event-tail.js';
import type { RunTexts } from './run-texts.js';

interface WatchedRun {
  /** Called with each state, and with undefined when the process stops. */
  watchers: Set<(state: RunState | undefined) => void>;
  /** Called with true when the run has ended, and with false when the process stops. */
  awaiters: Set<(hasEnded: boolean) => void>;
  /** Called when there may be new events, and when the process stops. */
  followers: Set<() => void>;
  /** Undefined without followers, and before the first look for events. */
  tail: EventTail | undefined;
  /** Undefined while nobody reads the deltas of the run's models. */
  texts: RunTexts | undefined;
}

export interface RunReader {
  runId: string;
  userId: number;
}

export interface Readers {
  waiting: number;
  following: number;
}

/** A process accepts 4,000 connections; the rest is for callers that do not wait. */
const MAX_READERS = 3_000;
/** Keeps one user from using all places for readers. */
const MAX_READERS_OF_ONE = 2_000;

export class WatchedRuns {
  readonly #runs = new Map<string, WatchedRun>();
  readonly #onReaders: (readers: Readers) => void;
  readonly #readers: Readers = { waiting: 0, following: 0 };
  /** The number of readers by user, waiting and following together. A user without readers has no entry. */
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

  /** Omits runs that have no readers any more. */
  watches(runIds: string[]): Watch[] {
    return runIds.flatMap((runId) => {
      const run = this.#runs.get(runId);
      return run === undefined
        ? []
        : [{ runId, deltas: run.texts !== undefined, endsOnly: !this.hasChangesRead(runId) }];
    });
  }

  get(runId: string): WatchedRun | undefined {
    return this.#runs.get(runId);
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Returns true if a reader needs more changes of the run than its end. */
  hasChangesRead(runId: string): boolean {
    const run = this.#runs.get(runId);
    return run !== undefined && run.watchers.size + run.followers.size > 0;
  }

  /** Returns a function that ends the watch; calling it again has no effect. */
  watch({ runId, userId }: RunReader, onState: (state: RunState | undefined) => void): () => void {
    this.#enter({ runId, userId }, 'waiting').watchers.add(onState);
    return this.#leaver({ runId, userId }, 'waiting', ({ watchers }) => watchers.delete(onState));
  }

  follow({ runId, userId }: RunReader, onNews: () => void): () => void {
    this.#enter({ runId, userId }, 'following').followers.add(onNews);
    return this.#leaver({ runId, userId }, 'following', ({ followers }) => followers.delete(onNews));
  }

  /** Returns a function that ends the wait; calling it again has no effect. */
  await({ runId, userId }: RunReader, onEnd: (hasEnded: boolean) => void): () => void {
    this.#enter({ runId, userId }, 'waiting').awaiters.add(onEnd);
    return this.#leaver({ runId, userId }, 'waiting', ({ awaiters }) => awaiters.delete(onEnd));
  }

  /** Adds a follower to the readers of the deltas. `open` is called for the first one. */
  readTexts(runId: string, onNews: () => void, open: () => RunTexts): { texts: RunTexts; leave: () => void } {
    const run = this.#runs.get(runId)!;
    const texts = (run.texts ??= open());
    texts.enter(onNews);
    const leave = (): void => {
      if (!texts.leave(onNews) || texts.hasReaders) return;
      texts.end();
      if (run.texts === texts) run.texts = undefined;
    };
    return { texts, leave };
  }

  endAll(): void {
    for (const { watchers, awaiters, followers } of this.#runs.values()) {
      for (const onState of watchers) onState(undefined);
      for (const onEnd of awaiters) onEnd(false);
      for (const onNews of followers) onNews();
    }
  }

  #enter({ runId, userId }: RunReader, kind: keyof Readers): WatchedRun {
    const run = this.#runs.get(runId) ?? {
      watchers: new Set(),
      awaiters: new Set(),
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
      if (run.watchers.size + run.awaiters.size + run.followers.size === 0) this.#runs.delete(runId);
    };
  }
}
