import { useEffect, useState } from 'react';
import {
  pollRunChange,
  readRunEvents,
  type RunEvent,
  type VersionedState,
} from '../../clients/typescript/src/index.js';
import { api } from '../app/api.js';
import { queryClient } from '../app/queries.js';
import type { RunLinks } from '../drawing/run-links.js';
import { applyNews } from './live-run.js';
import { statusesOf } from './node-status.js';
import { createFrameBatch } from './pace.js';
import { readShownRun, writeShownRun } from './run-cache.js';
import { watchRun, type Connection, type RunSource } from './watch-run.js';

type News = RunEvent | VersionedState;

/** A page that nobody has looked at for this long closes its connection, because browsers have six for a service. */
const UNSEEN_MS = 60_000;

interface LiveRunOptions {
  runId: string;
  links: RunLinks;
  /** Whether the run is open. */
  isOpen: boolean;
}

interface LiveRunState {
  connection: Connection;
  /** The reason why no more news come. */
  error: unknown;
  retry: () => void;
}

/**
 * Keeps the state of an open run in the query cache up to date (`run-cache.ts`), with one change of the cache a frame.
 * Returns how news come.
 */
export function useLiveRun({ runId, links, isOpen }: LiveRunOptions): LiveRunState {
  const isSeen = useIsSeen();
  const [connection, setConnection] = useState<Connection>('connecting');
  const [error, setError] = useState<unknown>();
  const [tries, setTries] = useState(1);
  useEffect(() => {
    if (!isOpen || !isSeen || tries === 0) return undefined;
    const controller = new AbortController();
    watch(runId, links, setConnection, controller.signal).then(
      // Cost, duration and the run's own status are known at its end only.
      () => (controller.signal.aborted ? undefined : queryClient.invalidateQueries({ queryKey: ['run', runId] })),
      setError,
    );
    return () => controller.abort();
  }, [runId, links, isOpen, isSeen, tries]);
  const retry = (): void => {
    setError(undefined);
    setTries(tries + 1);
  };
  return { connection, error, retry };
}

function watch(
  runId: string,
  links: RunLinks,
  onConnection: (connection: Connection) => void,
  signal: AbortSignal,
): Promise<void> {
  const batch = createFrameBatch<News>((news) => {
    const shown = readShownRun(runId);
    if (shown === undefined || signal.aborted) return;
    const live = applyNews(shown.live, news);
    writeShownRun(runId, { live, statuses: statusesOf(links, live) });
  }, scheduleFrame);
  const sink = {
    onState: batch.add,
    onEvent: (event: RunEvent) => {
      batch.add(event);
      if (event.type === 'approval') void queryClient.invalidateQueries({ queryKey: ['run-approvals', runId] });
    },
    onConnection,
  };
  return watchRun(createRunSource(runId), sink, signal).finally(batch.flush);
}

function useIsSeen(): boolean {
  const [isSeen, setIsSeen] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      clearTimeout(timer);
      if (document.visibilityState === 'hidden') timer = setTimeout(() => setIsSeen(false), UNSEEN_MS);
      else setIsSeen(true);
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, []);
  return isSeen;
}

// The service is the source of a run's news, and the browser may go offline.

function createRunSource(runId: string): RunSource {
  return {
    read: (after, onOpen, signal) => readWhileOnline(runId, after, onOpen, signal),
    poll: (etag, signal) => pollRunChange(api, runId, { etag, signal }),
    pause: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(end, ms);
        function end(): void {
          clearTimeout(timer);
          removeEventListener('online', end);
          signal.removeEventListener('abort', end);
          resolve();
        }
        addEventListener('online', end);
        signal.addEventListener('abort', end);
      }),
  };
}

/** A connection of a network that is gone may stay open silently. The browser knows that it is offline. */
async function* readWhileOnline(runId: string, after: number | undefined, onOpen: () => void, signal: AbortSignal) {
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal.reason);
  const goOffline = (): void => controller.abort(new TypeError('The browser is offline.'));
  signal.addEventListener('abort', stop, { once: true });
  addEventListener('offline', goOffline);
  if (signal.aborted) stop();
  try {
    yield* readRunEvents(api, runId, { after, onOpen, signal: controller.signal });
  } finally {
    signal.removeEventListener('abort', stop);
    removeEventListener('offline', goOffline);
  }
}

/** A page that nobody looks at has no frames. */
const HIDDEN_MS = 250;

/** Acts when the next frame is drawn. */
function scheduleFrame(act: () => void): void {
  if (document.visibilityState === 'hidden') setTimeout(act, HIDDEN_MS);
  else requestAnimationFrame(act);
}
