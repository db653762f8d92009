import type { TestDeps } from '../test-runs/deps.js';

export type MarketplaceDeps = TestDeps;
