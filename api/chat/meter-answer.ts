// Reads the usage of a provider's answer while the answer passes to the caller.
import { pipeline, Transform, type Readable } from 'node:stream';
import { callbackify } from 'node:util';
import type { ChatAnswer } from './chat-upstream.js';
import type { MeteredCall } from './chat-meter.js';
import { createUsageReader, type UsageReader } from './usage-reader.js';

type OnEnd = (outcome: 'complete' | 'broken') => void;

/**
 * Returns the same bytes. Waits until the transaction is stored, for at most two seconds: before returning a complete
 * body, or between the last byte of a stream and its end.
 */
export async function meterAnswer(answer: ChatAnswer, call: MeteredCall, onEnd: OnEnd): Promise<Buffer | Readable> {
  const { status, headers, body } = answer;
  const reader = createUsageReader(headers);
  if (!Buffer.isBuffer(body)) return meterStream(body, reader, call, onEnd);
  if (status >= 400) await call.end({ kind: 'failed', reason: `http_${status}` });
  else {
    await reader.push(body);
    await call.end({ kind: 'complete', read: await reader.end() });
  }
  onEnd('complete');
  return body;
}

function meterStream(body: Readable, reader: UsageReader, call: MeteredCall, onEnd: OnEnd): Readable {
  let hasEnded = false;
  const end = async (kind: 'complete' | 'broken'): Promise<void> => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd(kind);
    await call.end({ kind, read: await reader.end() });
  };
  const pass = callbackify(async (chunk: Buffer) => {
    await reader.push(chunk);
    return chunk;
  });
  const metered = new Transform({
    flush: callbackify(() => end('complete')),
    transform(chunk: Buffer, _encoding, done) {
      pass(chunk, done);
    },
    destroy(error, done) {
      void end('broken');
      done(error);
    },
  });
  metered.on('error', () => undefined);
  return pipeline(body, metered, () => undefined);
}
