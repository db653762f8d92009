import { useEffect, useState } from 'react';
import type { RunEvent, VersionedState } from '../../clients/typescript/src/index.js';
import { queryClient } from '../app/queries.js';
import type { RunLinks } from '../drawing/run-links.js';
import { createFrameBatch } from './frame-batch.js';
import { applyNews } from './live-run.js';
import { statusesOf } from './node-status.js';
import { readShownRun, writeShownRun } from './run-cache.js';
import { createRunSource } from './run-source.js';
import { scheduleFrame } from './schedule-frame.js';
import { watchRun, type Connection } from './watch-run.js';

type News = RunEvent | VersionedState;

/** A page that nobody has looked at for so long gives its connection back: browsers have six for a service. */
const UNSEEN_MS = 60_000;

interface LiveRunOptions {
  runId: string;
  links: RunLinks;
  /** Whether the run goes on. */
  isOpen: boolean;
}

interface LiveRunState {
  connection: Connection;
  /** Why no more news come. */
  error: unknown;
  retry: () => void;
}

/**
 * Keeps the state of an open run in the query cache up to date (`run-cache.ts`), one change of the cache a frame. Returns
 * how its news come.
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
      // What only the end has: cost, duration, the run's own status.
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
