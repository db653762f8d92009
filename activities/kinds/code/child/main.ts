// A sandbox process: runs one program after the other, each in an instance of QuickJS of its own, and ends with its
// worker.
import { once } from 'node:events';
import { Socket } from 'node:net';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { createFrameReader } from './frame-reader.js';
import { PROGRAMS_FD, REPLIES_FD, toFrame, type Program } from './messages.js';
import { loadQuickJs, runProgram } from './run-program.js';

// A service manager signals every process of the service. This one ends when its worker has drained.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);

// Every worker shows the same time to code.
process.env['TZ'] = 'UTC';

const lifeline = new Worker(new URL('./lifeline.js', import.meta.url), { env: {} });
const [quickJs] = await Promise.all([loadQuickJs(), once(lifeline, 'online')]);
// The first program takes much longer, because V8 compiles each function of QuickJS when it is first called.
await runProgram(quickJs, { code: '', inputs: '{}', marker: '', hasMarks: false, timeoutMs: 60_000 });
const programs = new Socket({ fd: PROGRAMS_FD });
const replies = new Socket({ fd: REPLIES_FD });
replies.write(toFrame({ status: 'ready' }));

let read = createFrameReader(Infinity);
for await (const chunk of programs as AsyncIterable<Buffer>) {
  const body = read(chunk);
  if (body === undefined) continue;
  read = createFrameReader(Infinity);
  replies.write(toFrame(await runProgram(quickJs, JSON.parse(body.toString()) as Program)));
}
// Waiting for the other thread to end could take forever: it waits for the worker.
process.kill(process.pid, 'SIGKILL');
