// Nodes that wait.
import type { Generated } from 'kysely';

/**
 * Writers: the worker begins and ends waits, and makes tokens; the API accepts a callback (one guarded update: the first
 * one counts), says when people have answered, and when a run has ended that a node has started, and begins the waits of a
 * resumed run for runs that it resumes, too. Retention deletes the waits of runs whose results have expired.
 */
export interface WaitsTable {
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: Generated<string>;
  node_id: string;
  /** Which of an agent's tool calls waits, counted from 1 over all turns; 0 for the node itself. */
  call: Generated<number>;
  kind: 'time' | 'callback' | 'human' | 'child';
  /** When the wait ends; null while the node has not begun, and only its token was asked for. */
  until: Date | null;
  /** SHA-256 of the token in the callback's address; null where nobody needs one. */
  token_hash: Buffer | null;
  token_enc: Buffer | null;
  /** The body of the callback, sealed; null until one was accepted. */
  answer_enc: Buffer | null;
  /** When what the node waits for has come; null for a wait for a time. */
  answered_at: Date | null;
  /** The run that the node has started (kind `child`). */
  child_run_id: string | null;
  /** When the run workflow took the signal; null is delivered again. */
  signalled_at: Date | null;
  /** How often the API has sent it again, and from when on it does so the next time; null for at once. */
  signal_attempts: Generated<number>;
  next_signal_at: Date | null;
  /** When the wait has ended. Whoever answers then is too late. */
  closed_at: Date | null;
}
