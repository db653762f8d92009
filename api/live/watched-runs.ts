import type { RunState } from '../../db/runs/run-watches-repository.js';
import type { EventTail } from './event-tail.js';

export interface WatchedRun {
  /** Those who wait for a state; called with undefined when nobody is to wait any longer. */
  watchers: Set<(state: RunState | undefined) => void>;
  /** Those who want each event: called when there may be some, and when nobody is to wait any longer. */
  followers: Set<() => void>;
  /** Undefined while nobody follows the run, and before the first look for events. */
  tail: EventTail | undefined;
}

export interface Readers {
  waiting: number;
  following: number;
}

/** The runs that somebody in this process waits for, by their ids. */
export class WatchedRuns {
  readonly #runs = new Map<string, WatchedRun>();
  readonly #onReaders: (readers: Readers) => void;
  readonly #readers: Readers = { waiting: 0, following: 0 };

  constructor(onReaders: (readers: Readers) => void) {
    this.#onReaders = onReaders;
  }

  get readers(): number {
    return this.#readers.waiting + this.#readers.following;
  }

  get ids(): string[] {
    return [...this.#runs.keys()];
  }

  get(runId: string): WatchedRun | undefined {
    return this.#runs.get(runId);
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Returns what ends it, which may be called more than once. */
  watch(runId: string, onState: (state: RunState | undefined) => void): () => void {
    this.#enter(runId, 'waiting').watchers.add(onState);
    return this.#leaver(runId, 'waiting', ({ watchers }) => watchers.delete(onState));
  }

  follow(runId: string, onNews: () => void): () => void {
    this.#enter(runId, 'following').followers.add(onNews);
    return this.#leaver(runId, 'following', ({ followers }) => followers.delete(onNews));
  }

  endAll(): void {
    for (const { watchers, followers } of this.#runs.values()) {
      for (const onState of watchers) onState(undefined);
      for (const onNews of followers) onNews();
    }
  }

  #enter(runId: string, kind: keyof Readers): WatchedRun {
    const run = this.#runs.get(runId) ?? { watchers: new Set(), followers: new Set(), tail: undefined };
    this.#runs.set(runId, run);
    this.#readers[kind]++;
    this.#onReaders(this.#readers);
    return run;
  }

  #leaver(runId: string, kind: keyof Readers, remove: (run: WatchedRun) => boolean): () => void {
    return () => {
      const run = this.#runs.get(runId);
      if (run === undefined || !remove(run)) return;
      this.#readers[kind]--;
      this.#onReaders(this.#readers);
      if (run.followers.size === 0) run.tail = undefined;
      if (run.watchers.size + run.followers.size === 0) this.#runs.delete(runId);
    };
  }
}
