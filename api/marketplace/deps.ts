import type { HeavyWork } from '../http/heavy-work.js';
import type { TestDeps } from '../test-runs/deps.js';

export type MarketplaceDeps = TestDeps & {
  heavyWork: HeavyWork;
};
