// Builds the entries of nodes in polls and other answers about runs. Results are passed on as JSON text.
import type { HistoryNode } from '../../db/runs/history-repository.js';
import type { PolledNode } from '../../db/runs/poll-repository.js';
import type { StoredRunStatus } from '../../db/core/tables.js';
import type { WaitView } from '../waits/wait-view.js';
import type { NodeErrors } from '../../graph/validate.js';
import { RawJson, type LazyJson } from '../http/json-text.js';
import { toFailedNodes } from '../envelope/run-envelope.js';

type NodeMap = Record<string, unknown>;

interface EntryOptions {
  /** Reads a result that is too large to be read with the others. */
  readApart?: (nodeId: string) => LazyJson;
  /** Shows waits other than approvals, as the reader may see them. Without `waits`, only approvals are shown. */
  waits?: WaitView;
}

/** Returns the entries of `nodes` by node id, or those of `draftErrors`, the validation errors of a `Draft` as JSON. */
export function toNodeMap(
  nodes: (PolledNode | HistoryNode)[],
  draftErrors: string | null,
  options: EntryOptions = {},
): NodeMap {
  if (draftErrors !== null) return toFailedNodes(JSON.parse(draftErrors) as NodeErrors);
  return Object.fromEntries(nodes.map((node) => [node.id, toNodeEntry(node, options)]));
}

export function toNodeEntry(node: PolledNode | HistoryNode, { readApart, waits }: EntryOptions = {}): NodeMap {
  const { id, status, iterations, isReused } = node;
  const reuse = isReused && { reused: true, ...toSource(node) };
  const times = { started_at: node.startedAt, finished_at: node.finishedAt };
  const head = { id, status, ...times, ...reuse, ...(iterations && { iterations }) };
  if (status === 'in progress') {
    const { approvals, waiting } = node;
    if (!approvals) return waiting && waits ? { ...head, waiting: waits.waiting(waiting) } : head;
    const until = approvals.map(({ expires_at: expiresAt }) => expiresAt).toSorted();
    return { ...head, approval_requests: approvals, waiting: { for: 'approval', until: until.at(-1) } };
  }
  if (status === 'succeed') {
    const isApart = typeof node.apartBytes === 'number' && readApart !== undefined;
    const result = isApart ? readApart(id) : new RawJson(node.result ?? '{"content":""}');
    const entry = { ...head, result };
    return 'truncated' in node && node.truncated ? { ...entry, truncated: true } : entry;
  }
  const error = { code: node.errorCode ?? 'failed', message: node.errorMessage ?? 'The node failed.' };
  return { ...head, error, ...(node.isHandled && { handled: true }) };
}

/** Names where a test run took the result from; empty for a result that was reused from the run that is resumed. */
function toSource({ source, isStale }: Pick<PolledNode, 'source' | 'isStale'>): NodeMap {
  if (source === null) return {};
  return { source, ...(source === 'mock' && { mocked: true }), ...(isStale && { stale: true }) };
}

type ExecutionStatus = 'in queue' | 'in progress' | 'succeed' | 'failed';

export function toExecutionStatus(status: StoredRunStatus, isStarted: boolean): ExecutionStatus {
  if (status === 'In Progress') return isStarted ? 'in progress' : 'in queue';
  return status === 'Succeeded' ? 'succeed' : 'failed';
}
