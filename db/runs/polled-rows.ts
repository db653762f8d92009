// The rows of polls, and what they say of a run.
import type { NodeStatus, Role, StoredRunStatus } from '../core/tables.js';
import type { OpenRequest, PolledNode, PolledOutput, PolledRun, PolledState, PolledText } from './polled-run.js';
import type { IterationCounts } from './iterations-text.js';
import type { StoredWait } from './waiting-text.js';
import { toStateTag, type VersionRow } from './run-version.js';

export interface StateRow extends VersionRow {
  run_id: string;
  run_status: StoredRunStatus;
  is_started: boolean;
  quiet_ms: number;
  is_expired: boolean;
  node_errors: string | null;
  is_visible: boolean;
  role: Role | null;
}

interface OutputRow {
  has_output: boolean;
  output_text: string | null;
}

export interface TextRow extends StateRow, OutputRow {
  /** Which of the polls it answers; null for a key that was counted without a poll that finds anything. */
  poll: number | null;
  nodes: string | null;
  is_unchanged: boolean;
}

/** Of the rows of a run, the first one has its output. */
export interface NodeRow extends StateRow, OutputRow {
  node_id: string | null;
  node_status: NodeStatus | null;
  result: string | null;
  apart_bytes: number | null;
  error_code: string | null;
  error_message: string | null;
  is_handled: boolean | null;
  is_reused: boolean | null;
  started_at_text: string;
  finished_at_text: string | null;
  approvals: OpenRequest[] | null;
  waiting: StoredWait | null;
  iterations: IterationCounts | null;
}

export function toState(row: StateRow): PolledState {
  return {
    runId: row.run_id,
    status: row.run_status,
    isStarted: row.is_started,
    quietMs: row.quiet_ms,
    isExpired: row.is_expired,
    isVisible: row.is_visible,
    role: row.role,
    version: row.version,
    stateTag: toStateTag(row.version, row.run_status, row.overdue),
    nodeErrors: row.node_errors,
  };
}

export function toText(row: TextRow): PolledText {
  return { ...toState(row), output: toOutput(row), nodes: row.nodes, isUnchanged: row.is_unchanged };
}

/** Undefined without a row. */
export function toRun(rows: NodeRow[]): PolledRun | undefined {
  const [row] = rows;
  if (row === undefined) return undefined;
  const nodes = rows.flatMap((of) => (of.node_id === null ? [] : [toNode(of)]));
  return { ...toState(row), output: toOutput(row), nodes };
}

function toOutput({ has_output: hasOutput, output_text: text }: OutputRow): PolledOutput | undefined {
  return hasOutput ? { text } : undefined;
}

function toNode(row: NodeRow): PolledNode {
  return {
    id: row.node_id ?? '',
    status: row.node_status ?? 'failed',
    result: row.result,
    apartBytes: row.apart_bytes,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    isHandled: row.is_handled ?? false,
    isReused: row.is_reused ?? false,
    startedAt: row.started_at_text,
    finishedAt: row.finished_at_text,
    approvals: row.approvals,
    waiting: row.waiting,
    iterations: row.iterations,
  };
}
