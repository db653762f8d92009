// A sandbox process: runs one program after the other, each in an instance of QuickJS of its own, and ends with its
// worker. It reads and writes synchronously, because it has nothing else to do.
import { once } from 'node:events';
import { readSync, writeSync } from 'node:fs';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { HEADER_BYTES, PROGRAMS_FD, REPLIES_FD, toFrame, type Program } from './messages.js';
import { loadQuickJs, runProgram } from './run-program.js';

// Every worker shows the same time to code.
process.env['TZ'] = 'UTC';

const lifeline = new Worker(new URL('./lifeline.js', import.meta.url), { env: {} });
const [quickJs] = await Promise.all([loadQuickJs(), once(lifeline, 'online')]);
send({ status: 'ready' });
for (let program = receive(); program !== undefined; program = receive()) {
  send(await runProgram(quickJs, program));
}
process.kill(process.pid, 'SIGKILL');

function send(message: unknown): void {
  const frame = toFrame(message);
  for (let sent = 0; sent < frame.length;) sent += writeSync(REPLIES_FD, frame, sent);
}

/** Returns undefined when the worker has closed the channel. */
function receive(): Program | undefined {
  const header = readExactly(HEADER_BYTES);
  const body = header && readExactly(header.readUInt32BE());
  return body && (JSON.parse(body.toString()) as Program);
}

function readExactly(length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length;) {
    const count = readSync(PROGRAMS_FD, bytes, filled, length - filled, null);
    if (count === 0) return undefined;
    filled += count;
  }
  return bytes;
}
