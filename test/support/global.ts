// Mocha's hooks when it runs files by itself, without the runner (CONTRIBUTING.md).
import type { RootHookObject } from 'mocha';
import { findTemporalBinary } from '../../cli/embedded/temporal-binary.js';
import { keepSharedStackData, leaveSharedStack } from './shared-stack.js';

const LEAK_AFTER_MS = 10_000;

export const mochaHooks: RootHookObject = {
  afterEach(this: Mocha.Context) {
    if (this.currentTest?.state === 'failed') keepSharedStackData();
  },
};

/**
 * Downloads or compiles the Temporal CLI if needed. This takes minutes, so it is done visibly and outside of any test's
 * time-out.
 */
export async function mochaGlobalSetup(): Promise<void> {
  await findTemporalBinary({
    configured: process.env['TEMPORAL_CLI'],
    env: process.env,
    report: (line) => process.stderr.write(`${line}\n`),
    signal: new AbortController().signal,
  });
}

export async function mochaGlobalTeardown(): Promise<void> {
  await leaveSharedStack();
  // Anything that keeps the process alive after the last test is a leak: it fails the run instead of hanging it.
  setTimeout(() => {
    process.stderr.write(`Still open after the tests: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit(1);
  }, LEAK_AFTER_MS).unref();
}
