// A sandbox process. It runs one program after another, each in its own instance of QuickJS, and ends with its worker.
import { once } from 'node:events';
import { Socket } from 'node:net';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { createFrameReader } from './frame-reader.js';
import type { AskWorker } from './file-requests.js';
import { PROGRAMS_FD, READY, REPLIES_FD, toFrame, toHeader, type Answer, type Program } from './messages.js';
import { loadQuickJs, runProgram } from './run-program.js';

// Ignored: a service manager signals every process of the service, but this one ends only when its worker has drained.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);

// Code must see the same time zone in every worker.
process.env['TZ'] = 'UTC';

const lifeline = new Worker(new URL('./lifeline.js', import.meta.url), { env: {} });
const [quickJs] = await Promise.all([loadQuickJs(), once(lifeline, 'online')]);
const programs = new Socket({ fd: PROGRAMS_FD });
const replies = new Socket({ fd: REPLIES_FD });
const chunks = programs[Symbol.asyncIterator]() as AsyncIterator<Buffer>;

/** Returns undefined when the worker has ended. */
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

const askWorker: AskWorker = async (request, content, onPaused) => {
  replies.write(toFrame(request));
  const nextAnswer = async (): Promise<Answer> => {
    const answer = JSON.parse((await nextBytes()).toString()) as Answer;
    if (answer.pausedMs !== undefined) onPaused(answer.pausedMs);
    return answer;
  };
  const answer = await nextAnswer();
  if (answer.answer === 'bytes') {
    replies.write(toFrame(READY));
    return nextBytes();
  }
  if (answer.answer !== 'ready') return answer;
  replies.write(toHeader(content.length));
  replies.write(content);
  return (await nextAnswer()) as Exclude<Answer, { size: number }>;
};

// Warms up: the first program takes much longer, because V8 compiles each function of QuickJS on its first call.
await runProgram(quickJs, { code: '', inputs: '{}', marker: '', hasMarks: false, timeoutMs: 60_000 }, askWorker);
replies.write(toFrame(READY));
for (let body = await nextFrame(); body !== undefined; body = await nextFrame()) {
  replies.write(toFrame(await runProgram(quickJs, JSON.parse(body.toString()) as Program, askWorker)));
}
// The process is killed, because the thread of lifeline.js keeps it alive as long as LIFELINE_FD is open.
process.kill(process.pid, 'SIGKILL');
