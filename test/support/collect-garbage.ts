import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'undici';

const TRIES = 100;
/** Environment of a stack whose processes are asked: the inspector takes any free port. */
export const WITH_INSPECTOR = { NODE_OPTIONS: '--inspect-port=0' };
/** What the inspector prints when SIGUSR1 opens it. */
const ADDRESS = /Debugger listening on (ws:\/\/\S+)/g;

/** Has a process of a stack collect its garbage, by way of its inspector. `logFile`: where what it prints goes. */
export async function collectGarbage(pid: number, logFile: string): Promise<void> {
  // Open from an earlier time, it says nothing any more.
  process.kill(pid, 'SIGUSR1');
  for (let tries = 0; tries < TRIES; tries += 1) {
    const address = [...readFileSync(logFile, 'utf8').matchAll(ADDRESS)].at(-1)?.[1];
    if (address !== undefined) return collectAt(address);
    await pause(50);
  }
  throw new Error(`the inspector of process ${pid} did not open`);
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
