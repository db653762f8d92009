// One stack for all integration tests of a mocha run, started by the first that asks for it.
import { startStack, type TestStack } from './stack.js';

let shared: Promise<TestStack> | undefined;
let keepData = false;

/** Share nothing on it: each test makes its own project, workflow and model names. */
export function sharedStack(): Promise<TestStack> {
  shared ??= startStack();
  return shared;
}

/** After a failure the data directory and its logs stay for a look. */
export function keepSharedStackData(): void {
  keepData = true;
}

export async function stopSharedStack(): Promise<void> {
  const stack = await shared;
  shared = undefined;
  await stack?.stop({ keep: keepData });
}
