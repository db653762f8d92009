// Mocha's hooks for the whole run (.mocharc.json requires this file).
import type { RootHookObject } from 'mocha';
import { keepSharedStackData, stopSharedStack } from './shared-stack.js';

export const mochaHooks: RootHookObject = {
  afterEach(this: Mocha.Context) {
    if (this.currentTest?.state === 'failed') keepSharedStackData();
  },
};

export async function mochaGlobalTeardown(): Promise<void> {
  await stopSharedStack();
}
