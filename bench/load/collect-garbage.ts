import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'undici';
import type { LoadStack } from './stack.js';

const TRIES = 100;
/** What the inspector prints when SIGUSR1 opens it; the stack is started so that its port is any free one. */
const ADDRESS = /Debugger listening on (ws:\/\/\S+)/g;

/** Has a process of the stack collect its garbage, by way of its inspector. */
export async function collectGarbage(stack: LoadStack, part: 'api' | 'worker'): Promise<void> {
  const pid = stack.file.pids[part];
  if (pid === undefined) return;
  const log = path.join(stack.dataDir, 'logs', `${part}.log`);
  // Open from an earlier time, it says nothing any more.
  process.kill(pid, 'SIGUSR1');
  for (let tries = 0; tries < TRIES; tries += 1) {
    const address = [...readFileSync(log, 'utf8').matchAll(ADDRESS)].at(-1)?.[1];
    if (address !== undefined) return collectAt(address);
    await pause(50);
  }
  throw new Error(`the inspector of the ${part} did not open`);
}

function collectAt(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address);
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' })),
    );
    socket.addEventListener('message', () => {
      socket.close();
      resolve();
    });
    socket.addEventListener('error', () => reject(new Error(`no answer from ${address}`)));
  });
}
