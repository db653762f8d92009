// Nodes that wait.
import type { Generated } from 'kysely';

/**
 * Writers: the worker begins and ends waits, and makes tokens; the API accepts a callback (one guarded update: the first
 * one counts), says when people have answered, and when a run has ended that a node has started, and begins the waits of a
 * resumed run for runs that it resumes, too; whoever makes a connection ready ends the waits for it. Retention deletes the waits of runs whose results have expired.
 */
export interface WaitsTable {
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: Generated<string>;
  node_id: string;
  /**
   * The number of the agent's tool call that waits, counted from 1 over all turns; 0 for the node itself; -1, -2 and so on for
   * the waits for a connection, one after the other.
   */
  call: Generated<number>;
  kind: 'time' | 'callback' | 'human' | 'child' | 'connection';
  /** The time when the wait ends; null while the node has not begun, and only its token was asked for. */
  until: Date | null;
  /** SHA-256 of the token in the callback's address; null where nobody needs one. */
  token_hash: Buffer | null;
  token_enc: Buffer | null;
  /** The body of the callback, sealed; null until one was accepted. */
  answer_enc: Buffer | null;
  /** The time when what the node waits for has come; null for a wait for a time. */
  answered_at: Date | null;
  /** The run that the node has started (kind `child`). */
  child_run_id: string | null;
  /** The connection that is waited for, and since when (kind `connection`). */
  connection_id: number | null;
  begun_at: Date | null;
  /** The time when the run workflow took the signal. The signal is delivered again while it is null. */
  signalled_at: Date | null;
  /** The number of further signals of the API, and the time of the next one; null for at once. */
  signal_attempts: Generated<number>;
  next_signal_at: Date | null;
  /** The time when the wait has ended. Whoever answers then is too late. */
  closed_at: Date | null;
}
