import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'undici';

const TRIES = 100;
/** The environment of a stack whose garbage is collected. The inspector uses any free port. */
export const WITH_INSPECTOR = { NODE_OPTIONS: '--inspect-port=0' };
/** Matches the line that the inspector prints when SIGUSR1 opens it. */
const ADDRESS = /Debugger listening on (ws:\/\/\S+)/g;
/** The second collection frees objects that became unreachable by the first one. */
const ROUNDS = 2;

/**
 * Makes a process of a stack and its threads collect garbage, by the inspector protocol. `logFile` is the log with the
 * output of the process. Returns the bytes that all its heaps use afterwards.
 */
export async function collectGarbage(pid: number, logFile: string): Promise<number> {
  // If the inspector is already open, it prints nothing, so the address of the last time is used.
  process.kill(pid, 'SIGUSR1');
  for (let tries = 0; tries < TRIES; tries += 1) {
    const address = [...readFileSync(logFile, 'utf8').matchAll(ADDRESS)].at(-1)?.[1];
    if (address !== undefined) return collectAt(address);
    await pause(50);
  }
  throw new Error(`the inspector of process ${pid} did not open`);
}

interface Message {
  id?: number;
  method?: string;
  params?: { sessionId: string; message: string };
  result?: { usedSize?: number; backingStorageSize?: number };
}

/** Sends one command and returns its result. */
type Ask = (method: string, params?: object) => Promise<NonNullable<Message['result']>>;

async function collectAt(address: string): Promise<number> {
  const socket = new WebSocket(address);
  const main = createAsker((text) => socket.send(text));
  const threads = new Map<string, ReturnType<typeof createAsker>>();
  socket.addEventListener('message', ({ data }) => {
    const { method, params, ...answer } = JSON.parse(String(data)) as Message;
    if (method === 'NodeWorker.attachedToWorker') {
      const { sessionId } = params!;
      const send = (message: string) => void main.ask('NodeWorker.sendMessageToWorker', { sessionId, message });
      threads.set(sessionId, createAsker(send));
    }
    if (method === 'NodeWorker.receivedMessageFromWorker') {
      threads.get(params!.sessionId)?.settle(JSON.parse(params!.message) as Message);
    }
    main.settle(answer);
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error(`no answer from ${address}`)));
  });
  try {
    // The answer arrives after the messages that attach the threads.
    await main.ask('NodeWorker.enable', { waitForDebuggerOnStart: false });
    const heaps = [main, ...threads.values()].map(({ ask }) => ask);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const ask of heaps) await ask('HeapProfiler.collectGarbage');
    }
    const held = await Promise.all(heaps.map(bytesOf));
    return held.reduce((sum, bytes) => sum + bytes, 0);
  } finally {
    socket.close();
  }
}

async function bytesOf(ask: Ask): Promise<number> {
  const { usedSize = 0, backingStorageSize = 0 } = await ask('Runtime.getHeapUsage');
  return usedSize + backingStorageSize;
}

function createAsker(send: (text: string) => void) {
  let last = 0;
  const waiting = new Map<number, (result: NonNullable<Message['result']>) => void>();
  const ask: Ask = (method, params = {}) =>
    new Promise((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      send(JSON.stringify({ id, method, params }));
    });
  return {
    ask,
    settle({ id, result }: Message): void {
      if (id === undefined) return;
      waiting.get(id)?.(result ?? {});
      waiting.delete(id);
    },
  };
}
