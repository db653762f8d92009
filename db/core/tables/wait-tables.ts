// Nodes that wait.
import type { Generated } from 'kysely';

/**
 * Writers: the worker begins and ends waits, and makes tokens; the API accepts a callback (one guarded update: the first
 * one counts). Retention deletes the waits of runs whose results have expired.
 */
export interface WaitsTable {
  run_id: string;
  /** The iteration that encloses the node (`NodeKey`); empty outside loops. */
  path: Generated<string>;
  node_id: string;
  kind: 'time' | 'callback';
  /** When the wait ends; null while the node has not begun, and only its token was asked for. */
  until: Date | null;
  /** SHA-256 of the token in the callback's address; null where nobody needs one. */
  token_hash: Buffer | null;
  token_enc: Buffer | null;
  /** The body of the callback, sealed; null until one was accepted. */
  answer_enc: Buffer | null;
  answered_at: Date | null;
  /** When the run workflow took the signal; null is delivered again. */
  signalled_at: Date | null;
  /** When the wait for a callback has ended. Whoever answers then is too late. */
  closed_at: Date | null;
}
