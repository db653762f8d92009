// A thread that waits for the end of the worker and then kills the process, whatever its other thread is busy with.
import { readSync } from 'node:fs';
import process from 'node:process';
import { LIFELINE_FD } from './messages.js';

try {
  readSync(LIFELINE_FD, Buffer.alloc(1));
} finally {
  process.kill(process.pid, 'SIGKILL');
}
