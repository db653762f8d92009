import type { HeavyTurns } from '../http/heavy-turns.js';
import type { TryingDeps } from '../trying/deps.js';
import type { WorkflowDeps } from '../workflows/deps.js';

export type MarketplaceDeps = TryingDeps &
  WorkflowDeps & {
    turns: HeavyTurns;
  };
