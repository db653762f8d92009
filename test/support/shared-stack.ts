// One stack for all integration tests: that of the runner (test/runner/), or, when mocha runs by itself, one that is
// started when a test first needs it.
import type { FromLane, SharedStackAt, ToLane } from '../runner/messages.js';
import { startFakeModelProvider } from '../../harness/target/fake-model-provider.js';
import { PROVIDERS_PATH } from '../../harness/target/model-router.js';
import { stackIn, startStack, type TestStack } from '../../harness/stack/stack.js';

let shared: Promise<TestStack> | undefined;
let keepData = false;
/** Registers this process with the router of the runner as a provider of model answers, or removes it. */
let tellRouter: ((method: 'PUT' | 'DELETE') => Promise<void>) | undefined;
const closers: (() => Promise<unknown>)[] = [];

/** Tests must share nothing on this stack: each one makes its own project, workflow and model names. */
export function sharedStack(): Promise<TestStack> {
  shared ??= process.send === undefined ? startStack() : attach();
  shared.catch(() => (shared = undefined));
  return shared;
}

/** Keeps the data directory and its logs, for a look after a failure. */
export function keepSharedStackData(): void {
  keepData = true;
}

/**
 * Removes this process from the model providers until the returned function is called, because a test that computes for
 * many seconds would answer no model calls meanwhile, not even those of other processes.
 */
export async function leaveModelCalls(): Promise<() => Promise<void>> {
  await sharedStack();
  await tellRouter?.('DELETE');
  return async () => tellRouter?.('PUT');
}

/** Registers a function that closes something which this process starts once for all its test files. */
export function beforeLeaving(close: () => Promise<unknown>): void {
  closers.push(close);
}

export async function leaveSharedStack(): Promise<void> {
  await Promise.all(closers.splice(0).map((close) => close()));
  const stack = await shared?.catch(() => undefined);
  shared = undefined;
  await stack?.stop({ keep: keepData });
}

async function attach(): Promise<TestStack> {
  const { dataDir, modelRouterUrl } = await borrow();
  const modelProvider = await startFakeModelProvider();
  const tell = async (method: 'PUT' | 'DELETE'): Promise<void> => {
    await fetch(new URL(PROVIDERS_PATH, modelRouterUrl), { method, body: modelProvider.url });
  };
  await tell('PUT');
  tellRouter = tell;
  const stack = stackIn(dataDir, modelProvider);
  return Object.assign(stack, {
    async stop() {
      await tell('DELETE');
      await modelProvider.close();
    },
  });
}

function borrow(): Promise<SharedStackAt> {
  return new Promise((resolve, reject) => {
    const listener = (message: ToLane): void => {
      if (message.type !== 'shared-stack' && message.type !== 'no-shared-stack') return;
      process.off('message', listener);
      if (message.type === 'shared-stack') resolve(message.at);
      else reject(new Error(`the shared stack did not start: ${message.reason}`));
    };
    process.on('message', listener);
    process.send!({ type: 'wants-shared-stack' } satisfies FromLane);
  });
}
