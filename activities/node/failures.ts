// What goes wrong in a node, and what of it may leave an activity. Only codes and fixed sentences reach Temporal's
// history; the words of a provider or target stay in Postgres, masked.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { ChainProgress } from '../../contract/dense.js';
import { NodeError } from '../../graph/node-error.js';

interface NodeFailureOptions {
  /** Whether another attempt may help and does no harm. */
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

/** A node's own failure; the message may quote the other side. */
export class NodeFailure extends NodeError {
  override name = 'NodeFailure';
  readonly isRetryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly charge: Charge | undefined;

  constructor(code: string, message: string, options: NodeFailureOptions = {}) {
    super(code, message);
    this.isRetryable = options.isRetryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.charge = options.charge;
  }

  /** The same failure, after which no other attempt follows. */
  asFinal(): NodeFailure {
    return new NodeFailure(this.code, this.message, { charge: this.charge });
  }

  /** The same failure; the next attempt follows after `delayMs`, unless the other side has said when. */
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

/** Ends the activity for good. `progress`: of an activity that executes several nodes. */
export function finalFailure(code: string, progress?: ChainProgress): ApplicationFailure {
  const details = progress === undefined ? [] : [progress];
  const message = 'The node failed.';
  return ApplicationFailure.create({ type: code, message, nonRetryable: true, category: BENIGN, details });
}

/** Another attempt follows after `delayMs`. At least 1 ms: Temporal reads 0 as "do not retry". */
export function retryableFailure(code: string, delayMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: code,
    message: 'The node is attempted again.',
    nextRetryDelay: Math.max(1, delayMs),
    category: BENIGN,
  });
}

/** Undefined for what is not to be attempted again after a delay of the node's own. */
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
