import { APIConnectionError } from 'openai';
import { STATUS_CODES } from 'node:http';
import type { ToldFailure } from '../../../config/model-answer.js';
import { NodeFailure } from '../../node/failures.js';

/** The part of an answer that has come before it turned out to be unusable. */
interface Brought {
  /** The provider has reported this; it is untrusted. */
  usage: unknown;
  /** True for a stream that has brought text or calls. */
  hasWords: boolean;
}

/**
 * An answer with the status 200 that is no completion. It costs what its usage says. Without usage it costs nothing, except for
 * a stream that has brought words: that one is charged as estimated.
 */
export class UnusableAnswer extends NodeFailure {
  override name = 'UnusableAnswer';
  readonly usage: unknown;
  readonly hasWords: boolean;

  constructor({ code, message, isRetryable, retryAfterMs }: NodeFailure, { usage, hasWords }: Brought) {
    super(code, message, { isRetryable, retryAfterMs });
    this.usage = usage;
    this.hasWords = hasWords;
  }
}

/** A call whose connection or stream ended before its answer was whole. Its message says when. */
export class BrokenOff extends APIConnectionError {
  override name = 'BrokenOff';
}

export function isRetryableStatus(status: number): boolean {
  return status >= 500 || status === 408 || status === 409 || status === 429;
}

/** Returns the failure that an answer with the status 200 tells, as if it had the status that the failure stands for. */
export function toldFailure({ status, sentence }: ToldFailure, inStream: boolean, retryAfterMs?: number): NodeFailure {
  if (status !== undefined) {
    const isRetryable = isRetryableStatus(status);
    const message = `The provider answered: ${status} ${sentence ?? nameOfStatus(status)}`;
    return new NodeFailure('provider_error', message, { isRetryable, retryAfterMs });
  }
  const said = sentence ?? 'it gave no reason.';
  if (!inStream) return new NodeFailure('provider_error', `The provider answered with an error: ${said}`);
  return new NodeFailure('network_error', `The stream of the provider has failed: ${said}`, { isRetryable: true });
}

export function nameOfStatus(status: number): string {
  return STATUS_CODES[status] ?? 'without a reason';
}
