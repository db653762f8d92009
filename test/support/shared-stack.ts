// One stack for all integration tests: that of the runner (test/runner/), or, when mocha runs by itself, one that is started
// by the first test that asks for it.
import type { FromLane, SharedStackAt, ToLane } from '../runner/messages.js';
import { startFakeModelProvider } from '../../harness/target/fake-model-provider.js';
import { PROVIDERS_PATH } from '../../harness/target/model-router.js';
import { stackIn, startStack, type TestStack } from '../../harness/stack/stack.js';

let shared: Promise<TestStack> | undefined;
let keepData = false;
/** Tells the router of the runner whether this process answers model calls. */
let tellRouter: ((method: 'PUT' | 'DELETE') => Promise<void>) | undefined;
const closers: (() => Promise<unknown>)[] = [];

/** Share nothing on it: each test makes its own project, workflow and model names. */
export function sharedStack(): Promise<TestStack> {
  shared ??= process.send === undefined ? startStack() : attach();
  shared.catch(() => (shared = undefined));
  return shared;
}

/** After a failure the data directory and its logs stay for a look. */
export function keepSharedStackData(): void {
  keepData = true;
}

/**
 * A test that computes for many seconds answers no model call meanwhile, those of other processes neither: they are asked of
 * the others until the returned function is called.
 */
export async function leaveModelCalls(): Promise<() => Promise<void>> {
  await sharedStack();
  await tellRouter?.('DELETE');
  return async () => tellRouter?.('PUT');
}

/** For what else one process starts once for all its test files. */
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
