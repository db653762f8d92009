// What goes wrong in a node, and what of it may leave an activity. Only codes and fixed sentences reach Temporal's
// history; the words of a provider or target stay in Postgres, masked.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Branch } from '../../graph/plan.js';

interface NodeFailureOptions {
  /** Whether another try may help and does no harm. */
  isRetryable?: boolean;
  /** Seconds or a date asked for by the other side (`Retry-After`), as milliseconds from now. */
  retryAfterMs?: number | undefined;
  /** What the failed call cost all the same. */
  charge?: Charge | undefined;
}

/** Money for one node, as exact decimal text in USD. */
export interface Charge {
  amountUsd: string;
  priceVersion: string;
  reason: string;
  /** JSON text of what the provider counted, for the ledger. */
  usage: string | null;
}

/** A node's own failure: `code` is a stable machine word, `message` is for the user and may quote the other side. */
export class NodeFailure extends Error {
  override name = 'NodeFailure';
  readonly code: string;
  readonly isRetryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly charge: Charge | undefined;

  constructor(code: string, message: string, options: NodeFailureOptions = {}) {
    super(message);
    this.code = code;
    this.isRetryable = options.isRetryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.charge = options.charge;
  }

  /** The same failure, after which no other try follows. */
  asFinal(): NodeFailure {
    return new NodeFailure(this.code, this.message, { charge: this.charge });
  }

  /** The same failure; the next try follows after `delayMs`, unless the other side has said when. */
  withDelay(delayMs: number): NodeFailure {
    const { isRetryable, charge } = this;
    return new NodeFailure(this.code, this.message, {
      isRetryable,
      charge,
      retryAfterMs: this.retryAfterMs ?? delayMs,
    });
  }
}

/** A node that fails is the user's matter: no warning in the worker's log. */
const { BENIGN } = ApplicationFailureCategory;

/** Ends the activity for good. `done`: what it had done before the node that failed. */
export function finalFailure(code: string, done?: DoneNodes): ApplicationFailure {
  const details = done === undefined ? [] : [done];
  const message = 'The node failed.';
  return ApplicationFailure.create({ type: code, message, nonRetryable: true, category: BENIGN, details });
}

/** What an activity has done. */
export interface DoneNodes {
  /** How many nodes, one after the other; those that it began with side by side count as one. */
  done: number;
  /** What the conditions among them have answered, in their order. */
  branches: Branch[];
  /** Which of those side by side, by their place, while not all of them are done. */
  beside?: number[];
  /** Which of those side by side has failed. */
  failed?: number;
}

/** Another try follows after `delayMs`; at once is a millisecond, for no delay at all means to Temporal no other try. */
export function retryableFailure(code: string, delayMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: code,
    message: 'The node is tried again.',
    nextRetryDelay: Math.max(1, delayMs),
    category: BENIGN,
  });
}

/** Undefined for what is not to be tried again after a delay of the node's own. */
export function retryDelayOf(failure: unknown): number | undefined {
  if (!(failure instanceof ApplicationFailure) || typeof failure.nextRetryDelay !== 'number') return undefined;
  return failure.nextRetryDelay;
}

/** Whether it has ended its node or run for good. */
export function isFinal(failure: unknown): boolean {
  return failure instanceof ApplicationFailure && failure.nonRetryable === true;
}

/** The run is over or gone: nothing may be written any more. */
export function runClosedFailure(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'run_closed',
    message: 'The run has ended.',
    nonRetryable: true,
    category: BENIGN,
  });
}
