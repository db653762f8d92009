// The stack under test, with a key whose rate limit the benchmark cannot reach.
import { startBareStack, type BareStack } from '../harness/stack/stack.js';
import { unlimitedKey } from '../harness/stack/supervisor.js';

export interface StackSettings {
  /** The folder `dist` of this or another checkout. */
  build: string;
  /** Overrides settings of `npm start`. */
  env: Record<string, string>;
}

export async function startBenchStack({ build, env }: StackSettings): Promise<BareStack> {
  const stack = await startBareStack({ dist: build, env });
  try {
    return Object.assign(stack, { apiKey: await unlimitedKey(stack.dataDir, build) });
  } catch (error) {
    await stack.stop();
    throw error;
  }
}
