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
import { applyDeltas, endClosedNodes, NO_WORDS, QUIET_MS, writingIn } from './words.js';

type News = RunEvent | VersionedState | { delta: Delta };

/** A page hidden for this long closes its connection, because browsers allow only six per origin. */
const UNSEEN_MS = 60_000;

interface LiveRunOptions {
  runId: string;
  links: RunLinks;
  /** True if the run has not ended. */
  isOpen: boolean;
  /** True to also receive model output (`useNodeWords`). */
  withWords: boolean;
}

interface LiveRunState {
  connection: Connection;
  /** The reason why updates have stopped. */
  error: unknown;
  retry: () => void;
}

/**
 * While the run is open, updates the state that `useRun` has put into the query cache (run-cache.ts), at most once per
 * frame. Returns the state of the connection.
 */
export function useLiveRun({ runId, links, isOpen, withWords }: LiveRunOptions): LiveRunState {
  const isSeen = useIsSeen();
  const [connection, setConnection] = useState<Connection>('connecting');
  const [error, setError] = useState<unknown>();
  const [tries, setTries] = useState(1);
  useEffect(() => {
    if (!isOpen || !isSeen || tries === 0) return undefined;
    const controller = new AbortController();
    const onConnection = (changed: Connection): void => {
      setError(undefined);
      setConnection(changed);
    };
    watch({ runId, links, withWords }, onConnection, controller.signal).then(
      // Cost, duration and the stored status are only known after the end.
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
    if (!signal.aborted) showNews(runId, links, news);
  }, scheduleFrame);
  const sink = {
    onState: batch.add,
    onEvent: (event: RunEvent) => {
      batch.add(event);
      if (event.type === 'approval') void queryClient.invalidateQueries({ queryKey: ['run-approvals', runId] });
    },
    onConnection: (connection: Connection) => {
      // A new stream sends the current model output from its start. Polls contain neither model output nor the ends of
      // iterations, so old output would never be removed.
      if (connection === 'connecting' || connection === 'polling') forgetWords(runId);
      onConnection(connection);
    },
  };
  const source = createRunSource(runId, withWords ? (delta) => batch.add({ delta }) : undefined);
  const after = readShownRun(runId)?.live.version;
  const timer = setInterval(() => showNews(runId, links, []), QUIET_MS / 10);
  return watchRun(source, sink, signal, after).finally(() => {
    clearInterval(timer);
    batch.flush();
  });
}

/** Removes a node's output in the same update that adds its result, so that a page never shows both or neither. */
function showNews(runId: string, links: RunLinks, news: readonly News[]): void {
  const shown = readShownRun(runId);
  if (shown === undefined) return;
  const deltas = news.flatMap((item) => ('delta' in item ? [item.delta] : []));
  const others = news.flatMap((item) => ('delta' in item ? [] : [item]));
  const live = applyNews(shown.live, others);
  const known = readWords(runId);
  const nowMs = performance.now();
  const words = endClosedNodes(applyDeltas(known, deltas, nowMs), (key) => isOpenNode(live, key));
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

// The service as source of a run's updates. A pause ends early when the browser comes back online.

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

/** Ends the stream when the browser goes offline, because the connection of a lost network may stay open silently. */
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

/** Replaces the frame on hidden pages, which get no animation frames. */
const HIDDEN_MS = 250;

function scheduleFrame(act: () => void): void {
  if (document.visibilityState === 'hidden') setTimeout(act, HIDDEN_MS);
  else requestAnimationFrame(act);
}
