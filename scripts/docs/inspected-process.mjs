// Counts the function calls of a process of a stack, including its threads, through its inspector.
import { WebSocket } from 'undici';

/** Each thread of the process has its own heap, and so its own counts. */
export async function inspectProcess(address) {
  const socket = new WebSocket(address);
  const main = createAsker((text) => socket.send(text));
  const threads = new Map();
  socket.addEventListener('message', ({ data }) => {
    const { method, params, ...answer } = JSON.parse(String(data));
    if (method === 'NodeWorker.attachedToWorker') {
      const { sessionId } = params;
      threads.set(
        sessionId,
        createAsker((message) => void main.ask('NodeWorker.sendMessageToWorker', { sessionId, message })),
      );
    }
    if (method === 'NodeWorker.detachedFromWorker') threads.delete(params.sessionId);
    if (method === 'NodeWorker.receivedMessageFromWorker')
      threads.get(params.sessionId)?.settle(JSON.parse(params.message));
    main.settle(answer);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error(`no answer from ${address}`)));
  });
  await main.ask('NodeWorker.enable', { waitForDebuggerOnStart: false });
  for (const { ask } of [main, ...threads.values()]) {
    await ask('Profiler.enable');
    await ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }
  return {
    /**
     * Returns the functions that were called since the last call, `{ url, offset, name }`, for the main
     * thread and the others.
     */
    async takeCalled() {
      const [own, ...others] = await Promise.all([main, ...threads.values()].map(calledIn));
      return { main: own, threads: others.flat() };
    },
    close: () => socket.close(),
  };
}

async function calledIn({ ask }) {
  const { result } = await ask('Profiler.takePreciseCoverage');
  return result.flatMap(({ url, functions }) =>
    functions.flatMap(({ functionName: name, ranges: [{ startOffset: offset, count }] }) =>
      count > 0 ? [{ url, offset, name }] : [],
    ),
  );
}

function createAsker(send) {
  let last = 0;
  const waiting = new Map();
  return {
    ask: (method, params = {}) =>
      new Promise((resolve, reject) => {
        const id = ++last;
        waiting.set(id, { resolve, reject });
        send(JSON.stringify({ id, method, params }));
      }),
    settle({ id, result, error }) {
      const asked = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) asked?.resolve(result);
      else asked?.reject(new Error(error.message));
    },
  };
}
