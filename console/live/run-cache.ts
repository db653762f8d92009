// Stores the live state of a run in the query cache. A component renders again only if the part of the state that it
// selects has changed.
import { skipToken, useQuery, type QueryKey } from '@tanstack/react-query';
import { useMemo } from 'react';
import { queryClient } from '../service/queries.js';
import type { RunLink } from '../drawing/run-links.js';
import { nodeKey, type LiveRun, type NodeEntry } from './live-run.js';
import { linkState, type LinkState } from './node-status.js';
import { NO_WORDS, type NodeWords, type RunWords } from './words.js';

/** `statuses` maps node ids to statuses (`statusesOf`); `writing` has the ids of nodes whose model is writing. */
interface ShownRun {
  live: LiveRun;
  statuses: ReadonlyMap<string, string>;
  writing: ReadonlySet<string>;
}

function shownRunKey(runId: string): QueryKey {
  return ['poll', runId];
}

export function readShownRun(runId: string): ShownRun | undefined {
  return queryClient.getQueryData<ShownRun>(shownRunKey(runId));
}

export function writeShownRun(runId: string, shown: Omit<ShownRun, 'writing'> & Partial<ShownRun>): void {
  const { writing = new Set() } = readShownRun(runId) ?? {};
  queryClient.setQueryData(shownRunKey(runId), { writing, ...shown });
}

// Model output changes many times per second. Its own cache entry keeps it from notifying every node of the graph.

function wordsKey(runId: string): QueryKey {
  return ['run-words', runId];
}

export function readWords(runId: string): RunWords {
  return queryClient.getQueryData<RunWords>(wordsKey(runId)) ?? NO_WORDS;
}

export function writeWords(runId: string, words: RunWords): void {
  queryClient.setQueryData(wordsKey(runId), words);
}

/** Returns the output of the last model call of a node in progress, undefined if there is none. */
export function useNodeWords(runId: string, nodeId: string, path = ''): NodeWords | undefined {
  return useWords(runId, (words) => words.get(nodeKey(nodeId, path)) ?? null) ?? undefined;
}

/** `select` must return a part of the words, not a new object, or each update renders again. */
export function useWords<Part>(runId: string, select: (words: RunWords) => Part): Part | undefined {
  const query = useQuery({
    queryKey: wordsKey(runId),
    queryFn: skipToken,
    select,
    staleTime: Infinity,
    structuralSharing: false,
  });
  return query.data;
}

function useShownRun<Part>(runId: string, select: (shown: ShownRun) => Part): Part | undefined {
  const query = useQuery({
    queryKey: shownRunKey(runId),
    queryFn: skipToken,
    select,
    staleTime: Infinity,
    // live-run.ts retains the identity of unchanged entries; comparing whole results here would cost more.
    structuralSharing: false,
  });
  return query.data;
}

/** Returns the whole state of a run, undefined until it is loaded. */
export function useLive(runId: string): LiveRun | undefined {
  return useShownRun(runId, ({ live }) => live);
}

export function useNodeStatus(runId: string, nodeId: string): string {
  return useShownRun(runId, ({ statuses }) => statuses.get(nodeId)) ?? 'not run';
}

/** True if a model of the node is writing; in a loop, in any iteration. */
export function useIsWriting(runId: string, nodeId: string): boolean {
  return useShownRun(runId, ({ writing }) => writing.has(nodeId)) ?? false;
}

/** Returns the ids of the nodes whose model is writing, undefined until the run is loaded. */
export function useWriting(runId: string): ReadonlySet<string> | undefined {
  return useShownRun(runId, ({ writing }) => writing);
}

export function useLinkState(runId: string, link: RunLink): LinkState {
  return useShownRun(runId, ({ live, statuses }) => linkState(link, live, statuses)) ?? 'open';
}

/** Returns null if the run has not reached the node, or is not loaded. */
export function useNodeEntry(runId: string, nodeId: string, path = ''): NodeEntry | null {
  return useShownRun(runId, ({ live }) => live.nodes.get(nodeKey(nodeId, path)) ?? null) ?? null;
}

/** True if the node waits for approvals of tool calls. */
export function useIsWaiting(runId: string, nodeId: string, path = ''): boolean {
  return useShownRun(runId, ({ live }) => live.pending.has(nodeKey(nodeId, path))) ?? false;
}

const NONE: readonly string[] = [];

/** Returns the keys of the started nodes in order of their start. */
export function useStartedNodes(runId: string): readonly string[] {
  return useShownRun(runId, ({ live }) => live.order) ?? NONE;
}

interface InFlight {
  /** Keys of waiting nodes, except for those that wait for approvals of tools. */
  waiting: readonly string[];
  /** Keys of nodes at work. Loops are left out, because the nodes in their bodies are listed. */
  running: readonly string[];
  /** Number of ended nodes outside loops. */
  ended: number;
}

/** Returns the keys of nodes that have started but not ended, and the number of ended nodes. */
export function useNodesInFlight(runId: string): InFlight {
  // The selected value is JSON text, so that equal values compare equal and do not render again.
  const text = useShownRun(runId, ({ live }) => JSON.stringify(inFlight(live)));
  return useMemo(() => (text === undefined ? NOTHING : (JSON.parse(text) as InFlight)), [text]);
}

const NOTHING: InFlight = { waiting: NONE, running: NONE, ended: 0 };

function inFlight({ order, nodes, pending }: LiveRun): InFlight {
  const [waiting, running]: [string[], string[]] = [[], []];
  let ended = 0;
  for (const key of order) {
    const entry = nodes.get(key)!;
    if (entry.status === 'succeed' || entry.status === 'failed') {
      if (entry.path === undefined || entry.path === '') ended += 1;
    } else if (entry.waiting !== undefined) waiting.push(key);
    else if (entry.status === 'in progress' && entry.iterations === undefined && !pending.has(key)) running.push(key);
  }
  return { waiting, running, ended };
}

type RunWord = LiveRun['status'] | 'waiting';

/**
 * Returns the status of the run, or `waiting` if it is in progress and every node in flight waits; undefined until the
 * run is loaded. A loop counts as waiting if its iterations do.
 */
export function useRunWord(runId: string): RunWord | undefined {
  return useShownRun(runId, wordOf);
}

/** Returns what `useRunWord` returns at this moment. */
export function readRunWord(runId: string): RunWord | undefined {
  const shown = readShownRun(runId);
  return shown && wordOf(shown);
}

function wordOf({ live }: ShownRun): RunWord {
  return isAllWaiting(live) ? 'waiting' : live.status;
}

function isAllWaiting({ status, nodes, pending }: LiveRun): boolean {
  if (status !== 'in progress') return false;
  let count = 0;
  for (const [key, entry] of nodes) {
    if (entry.status !== 'in progress' || entry.iterations !== undefined) continue;
    if (entry.waiting === undefined && !pending.has(key)) return false;
    count += 1;
  }
  return count > 0;
}

/** Returns the key of the first node that waits for an approval or an answer of a person; undefined if none does. */
export function useAskingNode(runId: string): string | undefined {
  return useShownRun(runId, ({ live: { order, nodes, pending } }) =>
    order.find((key) => pending.has(key) || nodes.get(key)?.waiting?.for === 'human'),
  );
}

/** What a run currently asks of people. `approvals` and `tasks` are ids. */
export interface Requests {
  approvals: readonly string[];
  tasks: readonly string[];
  /** Connections that need somebody to sign in, without duplicates. */
  signIns: readonly ConnectionWait[];
  /** Runs of sub-workflows for which this run waits. They may have requests of their own. */
  below: readonly string[];
}

interface ConnectionWait {
  connectionId: number;
  until: string | undefined;
}

const NO_REQUESTS: Requests = { approvals: NONE, tasks: NONE, signIns: [], below: NONE };

export function useRequests(runId: string): Requests {
  const text = useShownRun(runId, ({ live }) => JSON.stringify(requestsOf(live)));
  return useMemo(() => (text === undefined ? NO_REQUESTS : (JSON.parse(text) as Requests)), [text]);
}

export function requestsOf({ order, nodes, pending }: LiveRun): Requests {
  const waits = order.flatMap((key) => {
    const { status, waiting } = nodes.get(key)!;
    return status === 'in progress' ? (waiting ?? []) : [];
  });
  const tasks = waits.flatMap(({ for: what, task_id: id }) => (what === 'human' ? (id ?? []) : []));
  const below = waits.flatMap(({ for: what, run_id: id }) => (what === 'child' ? (id ?? []) : []));
  const signIns = new Map<number, ConnectionWait>();
  for (const { for: what, connection_id: connectionId, until } of waits) {
    if (what === 'connection' && connectionId !== undefined) signIns.set(connectionId, { connectionId, until });
  }
  return { approvals: [...pending.values()].flat(), tasks, signIns: [...signIns.values()], below };
}
