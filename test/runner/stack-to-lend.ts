// The one stack of a round of the runner, started when the first lane needs it.
import { startModelRouter, type ModelRouter } from '../../harness/target/model-router.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import type { SharedStackAt } from './messages.js';

export interface StackToLend {
  lend: () => Promise<SharedStackAt>;
  /** `keep`: keeps the data directory and its logs, to be read after a failure. */
  close: (options: { keep: boolean }) => Promise<void>;
}

export function openStackToLend(env: Record<string, string>): StackToLend {
  let started: Promise<{ stack: TestStack; router: ModelRouter }> | undefined;
  async function start(): Promise<{ stack: TestStack; router: ModelRouter }> {
    const router = await startModelRouter();
    try {
      return { router, stack: await startStack({ env, modelProviderUrl: router.url }) };
    } catch (error) {
      await router.close();
      throw error;
    }
  }
  return {
    async lend() {
      started ??= start();
      // One failed start must not fail all files: the next request tries again.
      started.catch(() => (started = undefined));
      const { stack, router } = await started;
      return { dataDir: stack.dataDir, modelRouterUrl: router.url };
    },
    async close(options) {
      const lent = await started?.catch(() => undefined);
      await lent?.stack.stop(options);
      await lent?.router.close();
    },
  };
}
