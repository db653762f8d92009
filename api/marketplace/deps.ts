import type { HeavyWork } from '../http/heavy-work.js';
import type { TryingDeps } from '../test-runs/deps.js';

export type MarketplaceDeps = TryingDeps & {
  heavyWork: HeavyWork;
};
