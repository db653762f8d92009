import type { Database } from '../../db/core/client.js';
import { orderRunEvents, readRunEvents, type RunEvent } from '../../db/runs/run-events-repository.js';
import type { RunHub } from './run-hub.js';
import type { RunReader } from './watched-runs.js';

/** The events of one run for one reader, who takes them as fast as it can. */
export interface RunFeed {
  /** Events after the version, some at a time; none when there are none yet. */
  after(version: number): Promise<RunEvent[]>;
  /** Resolves when there may be more, after `atMost` milliseconds, or when nobody is to wait any longer. */
  untilNews(atMostMs: number): Promise<void>;
  /** True if no more will come: the run had ended, and all that there was has been taken. */
  readonly isClosed: boolean;
  end(): void;
}

/** A reader that is behind holds no more than this many events in memory, each of 16 KiB at most. */
const PAGE_EVENTS = 16;

/** Returns the feed of a run that has ended: everything is there. */
export async function openEndedFeed(db: Database, runId: string): Promise<RunFeed> {
  await orderRunEvents(db, [runId]);
  return {
    isClosed: true,
    after: (version) => readPage(db, runId, version),
    untilNews: () => Promise.resolve(),
    end: () => undefined,
  };
}

export function openFeed(db: Database, hub: RunHub, reader: RunReader, signal: AbortSignal): RunFeed {
  const { runId } = reader;
  let hasNews = false;
  let wake: () => void = () => undefined;
  const tell = (): void => {
    hasNews = true;
    wake();
  };
  const following = hub.follow(reader, tell);
  signal.addEventListener('abort', tell);
  return {
    isClosed: false,
    async after(version) {
      hasNews = false;
      const tail = following.tail();
      if (tail === undefined) return [];
      return tail.after(version) ?? readPage(db, runId, version);
    },
    untilNews(atMostMs) {
      if (hasNews || signal.aborted || hub.isStopping) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, atMostMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    end() {
      signal.removeEventListener('abort', tell);
      following.end();
    },
  };
}

async function readPage(db: Database, runId: string, after: number): Promise<RunEvent[]> {
  return (await readRunEvents(db, [{ runId, after }], PAGE_EVENTS)).get(runId)!;
}
