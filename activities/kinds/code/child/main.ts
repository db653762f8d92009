// A sandbox process: runs one program after the other, each in an instance of QuickJS of its own, and ends with its
// worker.
import { once } from 'node:events';
import { Socket } from 'node:net';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { createFrameReader } from './frame-reader.js';
import type { Exchange } from './file-requests.js';
import { PROGRAMS_FD, READY, REPLIES_FD, toFrame, toHeader, type Answer, type Program } from './messages.js';
import { loadQuickJs, runProgram } from './run-program.js';

// A service manager signals every process of the service. This one ends when its worker has drained.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);

// Every worker shows the same time to code.
process.env['TZ'] = 'UTC';

const lifeline = new Worker(new URL('./lifeline.js', import.meta.url), { env: {} });
const [quickJs] = await Promise.all([loadQuickJs(), once(lifeline, 'online')]);
const programs = new Socket({ fd: PROGRAMS_FD });
const replies = new Socket({ fd: REPLIES_FD });
const chunks = programs[Symbol.asyncIterator]() as AsyncIterator<Buffer>;

/** Undefined at the end of the worker. */
async function nextFrame(): Promise<Buffer | undefined> {
  const read = createFrameReader(Infinity);
  for (;;) {
    const { value, done } = await chunks.next();
    if (done === true) return undefined;
    const body = read(value);
    if (body !== undefined) return body;
  }
}

async function nextBytes(): Promise<Buffer> {
  const body = await nextFrame();
  if (body === undefined) throw new Error('The worker has ended.');
  return body;
}

const exchange: Exchange = async (request, content) => {
  replies.write(toFrame(request));
  const answer = JSON.parse((await nextBytes()).toString()) as Answer;
  if (answer.answer === 'bytes') {
    replies.write(toFrame(READY));
    return nextBytes();
  }
  if (answer.answer !== 'ready') return answer;
  replies.write(toHeader(content.length));
  replies.write(content);
  return JSON.parse((await nextBytes()).toString()) as Exclude<Answer, { size: number }>;
};

// The first program takes much longer, because V8 compiles each function of QuickJS when it is first called.
await runProgram(quickJs, { code: '', inputs: '{}', marker: '', hasMarks: false, timeoutMs: 60_000 }, exchange);
replies.write(toFrame(READY));
for (let body = await nextFrame(); body !== undefined; body = await nextFrame()) {
  replies.write(toFrame(await runProgram(quickJs, JSON.parse(body.toString()) as Program, exchange)));
}
// Waiting for the other thread to end could take forever: it waits for the worker.
process.kill(process.pid, 'SIGKILL');
