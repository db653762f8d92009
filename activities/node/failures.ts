// The failures of nodes in two forms: a `NodeFailure` stays in its activity, an `ApplicationFailure` leaves it.
// Temporal's history contains only codes, fixed sentences and the reports of walks. Text quoted from a provider or
// target is stored masked in PostgreSQL.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Walked } from '../../contract/activities.js';
import type { AnsweredCall } from '../../db/agents/agent-charges.js';
import { NodeError } from '../../graph/node-error.js';

interface NodeFailureOptions {
  /** True if a retry is safe and may succeed. */
  isRetryable?: boolean;
  /**
   * The delay of the retry in milliseconds, for example as the other side requested it (`Retry-After`). By default, the
   * retry policy sets it.
   */
  retryAfterMs?: number | undefined;
  /** The cost of the failed call, or of all calls of the node. */
  charge?: Charge | undefined;
}

/** The cost of a node, as exact decimal text in USD. */
export interface Charge {
  amountUsd: string;
  priceVersion: string;
  reason: string;
  /** The answered model call to record with the end of the node. Absent if the ledger holds all calls. */
  answered?: AnsweredCall;
}

/** A node's own failure. Its message may quote the other side. */
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

  asFinal(): NodeFailure {
    return new NodeFailure(this.code, this.message, { charge: this.charge });
  }

  /** Returns a copy that is retried after `delayMs`. A delay that the other side requested takes precedence. */
  withDelay(delayMs: number): NodeFailure {
    const { isRetryable, charge } = this;
    return new NodeFailure(this.code, this.message, {
      isRetryable,
      charge,
      retryAfterMs: this.retryAfterMs ?? delayMs,
    });
  }
}

/** Fails a node whose project would exceed its storage quota. The cost of its call is charged. */
export function quotaFailure(charge?: Charge): NodeFailure {
  return new NodeFailure('quota_exceeded', 'The project would store more bytes than it may.', { charge });
}

/** A failed node is the user's concern, so the SDK must not log a warning. */
const { BENIGN } = ApplicationFailureCategory;

/** `walked` is the report of the walk, which Temporal passes to the run workflow. */
export function finalFailure(code: string, walked?: Walked): ApplicationFailure {
  const details = walked === undefined ? [] : [walked];
  const message = 'The node failed.';
  return ApplicationFailure.create({ type: code, message, nonRetryable: true, category: BENIGN, details });
}

/** The delay is at least 1 ms, because Temporal reads 0 as "do not retry". */
export function retryableFailure(code: string, delayMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: code,
    message: 'The node is attempted again.',
    nextRetryDelay: Math.max(1, delayMs),
    category: BENIGN,
  });
}

/** Exceeds the `localRetryThreshold` of local activities, so that they wait outside the workflow task. */
const COME_BACK_MS = 8_000;

/**
 * Returns the failure that frees the slot of a node which has done nothing yet and would have to wait too long. The
 * node is attempted again in 8 to 16 s.
 */
export function handedBack(): ApplicationFailure {
  return retryableFailure('handed_back', comeBackMs());
}

/** Returns a random delay from 8 to 16 s, in milliseconds. */
export function comeBackMs(): number {
  return Math.round(COME_BACK_MS * (1 + Math.random()));
}

export function isHandedBack(failure: unknown): boolean {
  return failure instanceof ApplicationFailure && failure.type === 'handed_back';
}

const ASK_FOR_KEY_AGAIN_MS = 10_000;

/**
 * The failure of an activity that needs a key which `SECRETS_KEY` lacks. The activity is retried, because an operator
 * can restore a key that was removed too early. The run then loses nothing.
 */
export function secretUnreadable(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'secret_unreadable',
    message: 'SECRETS_KEY lacks the key of a stored value; the activity is tried again.',
    nextRetryDelay: ASK_FOR_KEY_AGAIN_MS,
  });
}

export function retryDelayOf(failure: unknown): number | undefined {
  if (!(failure instanceof ApplicationFailure) || typeof failure.nextRetryDelay !== 'number') return undefined;
  return failure.nextRetryDelay;
}

export function isFinal(failure: unknown): failure is ApplicationFailure {
  return failure instanceof ApplicationFailure && failure.nonRetryable === true;
}

/** The failure of an activity whose run or node has ended or was deleted. The activity must not write anything then. */
export function runClosedFailure(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'run_closed',
    message: 'The run has ended.',
    nonRetryable: true,
    category: BENIGN,
  });
}
