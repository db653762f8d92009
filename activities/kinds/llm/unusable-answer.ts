import { APIConnectionError } from 'openai';
import { STATUS_CODES } from 'node:http';
import type { ReportedFailure } from '../../../config/model-answer.js';
import { NodeFailure } from '../../node/failures.js';

/** The part of an answer that arrived before the answer turned out to be unusable. */
interface PartialAnswer {
  /** As the provider has reported it; untrusted. */
  usage: unknown;
  /** True if text or tool calls have arrived. */
  hasWords: boolean;
}

/**
 * An answer with a status 2xx that is not a usable completion. Its usage decides its cost. Without usage, it is charged
 * as estimated if text or tool calls have arrived, and is free otherwise.
 */
export class UnusableAnswer extends NodeFailure {
  override name = 'UnusableAnswer';
  readonly usage: unknown;
  readonly hasWords: boolean;

  constructor({ code, message, isRetryable, retryAfterMs }: NodeFailure, { usage, hasWords }: PartialAnswer) {
    super(code, message, { isRetryable, retryAfterMs });
    this.usage = usage;
    this.hasWords = hasWords;
  }
}

/** The failure of a call whose connection or stream ended before the whole answer. The message says at which stage. */
export class BrokenOff extends APIConnectionError {
  override name = 'BrokenOff';
}

export function isRetryableStatus(status: number): boolean {
  return status >= 500 || status === 408 || status === 409 || status === 429;
}

/**
 * Converts a failure that an answer with a status 2xx reports, as if the answer had the status of that failure. If the
 * failure has no status, it is retried only if a stream reports it.
 */
export function reportedFailure(
  { status, sentence }: ReportedFailure,
  inStream: boolean,
  retryAfterMs?: number,
): NodeFailure {
  if (status !== undefined) {
    const isRetryable = isRetryableStatus(status);
    const message = `The provider answered: ${status} ${sentence ?? nameOfStatus(status)}`;
    return new NodeFailure('provider_error', message, { isRetryable, retryAfterMs });
  }
  const reason = sentence ?? 'it gave no reason.';
  if (!inStream) return new NodeFailure('provider_error', `The provider answered with an error: ${reason}`);
  return new NodeFailure('network_error', `The stream of the provider has failed: ${reason}`, { isRetryable: true });
}

export function nameOfStatus(status: number): string {
  return STATUS_CODES[status] ?? 'without a reason';
}
