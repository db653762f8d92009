import { notifyManager } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import {
  pollRunChange,
  readRunEvents,
  type ReadEventsOptions,
  type Delta,
  type RunEvent,
  type VersionedState,
} from '../../clients/typescript/src/index.js';
import { api } from '../service/api.js';
import { queryClient } from '../service/queries.js';
import type { RunLinks } from '../drawing/run-links.js';
import { applyNews, hasEnded, type LiveRun } from './live-run.js';
import { statusesOf } from './node-status.js';
import { createFrameBatch } from '../service/pace.js';
import { readShownRun, readWords, writeShownRun, writeWords } from './run-cache.js';
import { watchRun, type Connection, type RunSource } from './watch-run.js';
import { applyDeltas, keepWords, NO_WORDS, QUIET_MS, writingIn } from './words.js';

type News = RunEvent | VersionedState | { delta: Delta };

/** A page that nobody has looked at for this long closes its connection, because browsers have six for a service. */
const UNSEEN_MS = 60_000;

interface LiveRunOptions {
  runId: string;
  links: RunLinks;
  /** Whether the run is open. */
  isOpen: boolean;
  /** Whether what models write is asked for, too (`useNodeWords`). */
  withWords: boolean;
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
export function useLiveRun({ runId, links, isOpen, withWords }: LiveRunOptions): LiveRunState {
  const isSeen = useIsSeen();
  const [connection, setConnection] = useState<Connection>('connecting');
  const [error, setError] = useState<unknown>();
  const [tries, setTries] = useState(1);
  useEffect(() => {
    if (!isOpen || !isSeen || tries === 0) return undefined;
    const controller = new AbortController();
    watch({ runId, links, withWords }, setConnection, controller.signal).then(
      // Cost, duration and the run's own status are known at its end only.
      () => (controller.signal.aborted ? undefined : queryClient.invalidateQueries({ queryKey: ['run', runId] })),
      setError,
    );
    return () => controller.abort();
  }, [runId, links, isOpen, withWords, isSeen, tries]);
  const retry = (): void => {
    setError(undefined);
    setTries(tries + 1);
  };
  return { connection, error, retry };
}

function watch(
  { runId, links, withWords }: Omit<LiveRunOptions, 'isOpen'>,
  onConnection: (connection: Connection) => void,
  signal: AbortSignal,
): Promise<void> {
  const batch = createFrameBatch<News>((news) => {
    if (!signal.aborted) takeNews(runId, links, news);
  }, scheduleFrame);
  const sink = {
    onState: batch.add,
    onEvent: (event: RunEvent) => {
      batch.add(event);
      if (event.type === 'approval') void queryClient.invalidateQueries({ queryKey: ['run-approvals', runId] });
    },
    onConnection: (connection: Connection) => {
      // A stream tells what is being written from its beginning. Polls do not tell it, nor the end of iterations.
      if (connection === 'connecting' || connection === 'polling') forgetWords(runId);
      onConnection(connection);
    },
  };
  const source = createRunSource(runId, withWords ? (delta) => batch.add({ delta }) : undefined);
  const after = readShownRun(runId)?.live.version;
  const timer = setInterval(() => takeNews(runId, links, []), QUIET_MS / 10);
  return watchRun(source, sink, signal, after).finally(() => {
    clearInterval(timer);
    batch.flush();
  });
}

/** What a node has written is forgotten in the same moment in which its result is there, so that a page shows one of them. */
function takeNews(runId: string, links: RunLinks, news: readonly News[]): void {
  const shown = readShownRun(runId);
  if (shown === undefined) return;
  const deltas = news.flatMap((item) => ('delta' in item ? [item.delta] : []));
  const others = news.flatMap((item) => ('delta' in item ? [] : [item]));
  const live = applyNews(shown.live, others);
  const known = readWords(runId);
  const nowMs = performance.now();
  const words = keepWords(applyDeltas(known, deltas, nowMs), (key) => isOpenNode(live, key));
  const writing = writingIn(words, shown.writing, nowMs);
  notifyManager.batch(() => {
    if (words !== known) writeWords(runId, words);
    if (live !== shown.live) writeShownRun(runId, { live, statuses: statusesOf(links, live), writing });
    else if (writing !== shown.writing) writeShownRun(runId, { ...shown, writing });
  });
}

function isOpenNode(live: LiveRun, key: string): boolean {
  const status = live.nodes.get(key)?.status;
  return !hasEnded(live) && status !== 'succeed' && status !== 'failed';
}

function forgetWords(runId: string): void {
  const shown = readShownRun(runId);
  if (readWords(runId).size > 0) writeWords(runId, NO_WORDS);
  if (shown !== undefined && shown.writing.size > 0) writeShownRun(runId, { ...shown, writing: new Set() });
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

function createRunSource(runId: string, onDelta: ((delta: Delta) => void) | undefined): RunSource {
  return {
    read: (after, onOpen, signal) => readWhileOnline(runId, { after, onOpen, signal }, onDelta),
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
async function* readWhileOnline(
  runId: string,
  { signal, ...options }: ReadEventsOptions & { signal: AbortSignal },
  onDelta: ((delta: Delta) => void) | undefined,
): AsyncGenerator<RunEvent> {
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal.reason);
  const goOffline = (): void => controller.abort(new TypeError('The browser is offline.'));
  signal.addEventListener('abort', stop, { once: true });
  addEventListener('offline', goOffline);
  if (signal.aborted) stop();
  const online = { ...options, signal: controller.signal };
  try {
    if (onDelta === undefined) yield* readRunEvents(api, runId, online);
    else {
      for await (const event of readRunEvents(api, runId, { ...online, include: 'deltas' })) {
        if (event.type === 'delta') onDelta(event.delta);
        else yield event;
      }
    }
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
