// Collects bodies in memory, at a minimum pace. The memory lease grows as the bytes arrive.
import type { IncomingMessage } from 'node:http';
import type { ByteLease } from '../../memory/byte-budget.js';
import { GrowingBuffer } from '../../memory/growing-buffer.js';
import { bodyTooLarge, bodyTooSlow, parseError } from './errors.js';

/** A body costs its bytes, their text and the parsed value. */
const BODY_FACTOR = 3;

/** The size of the body in a lease that nothing but `collectBody` has changed. */
export function collectedBytes({ bytes }: Pick<ByteLease, 'bytes'>): number {
  return bytes / BODY_FACTOR;
}

export interface BodyPace {
  silenceMs: number;
  /** The time that a body may take in addition to the time for its bytes at `bytesPerSecond`. */
  graceMs: number;
  bytesPerSecond: number;
}

const PACE: BodyPace = { silenceMs: 10_000, graceMs: 15_000, bytesPerSecond: 32 * 1024 };
const CHECK_MS = 1_000;

/**
 * Returns the body, of at most `limitBytes`. `lease` grows to three times the bytes received; receiving pauses while
 * the lease waits, and that time does not count for the pace. Throws 413, 408 (too slow), 400 (ended early), or the
 * lease's error. The rest of a refused body is received and dropped, so that the client reads the answer instead of a
 * connection reset.
 */
export function collectBody(
  request: IncomingMessage,
  { limitBytes, lease, pace = PACE }: { limitBytes: number; lease: ByteLease; pace?: BodyPace },
): Promise<Buffer> {
  const body = new GrowingBuffer();
  let startedMs = performance.now();
  let heardMs = startedMs;
  let isWaiting = false;
  return new Promise((resolve, reject) => {
    const stopListening = (): void => {
      clearInterval(clock);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onError);
    };
    const fail = (error: unknown): void => {
      stopListening();
      body.drain();
      request.on('error', () => undefined);
      request.resume();
      reject(error instanceof Error ? error : new Error('the body was given up', { cause: error }));
    };
    const onData = (chunk: Buffer): void => {
      heardMs = performance.now();
      if (body.sizeBytes + chunk.length > limitBytes) return fail(bodyTooLarge(limitBytes));
      body.add(chunk);
      const granted = lease.resize(BODY_FACTOR * body.sizeBytes);
      if (granted !== undefined) void waitFor(granted);
    };
    const waitFor = async (granted: Promise<void>): Promise<void> => {
      isWaiting = true;
      request.pause();
      try {
        await granted;
      } catch (error) {
        return fail(error);
      }
      isWaiting = false;
      startedMs += performance.now() - heardMs;
      heardMs = performance.now();
      request.resume();
    };
    const onEnd = (): void => {
      stopListening();
      const bytes = body.drain();
      resolve(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    };
    const onError = (error: unknown): void => fail(parseError('The body ended too early.', error));
    const onClose = (): void => onError(undefined);
    const clock = setInterval(() => {
      const now = performance.now();
      const mayTakeMs = pace.graceMs + (body.sizeBytes / pace.bytesPerSecond) * 1000;
      if (!isWaiting && (now - heardMs > pace.silenceMs || now - startedMs > mayTakeMs)) fail(bodyTooSlow());
    }, CHECK_MS);
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError);
    if (request.destroyed) onClose();
  });
}
