import type { HeavyTurns } from '../http/heavy-turns.js';
import type { TryingDeps } from '../trying/deps.js';

export type MarketplaceDeps = TryingDeps & {
  turns: HeavyTurns;
};
