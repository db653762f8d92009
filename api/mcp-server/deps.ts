import type { RunEndDeps } from '../../acceptance/announce-run-end.js';
import type { Environment } from '../../config/environment.js';
import type { DatabaseHealth } from '../../db/core/pulse.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { HeavyWork } from '../http/heavy-work.js';
import type { RunHub } from '../live/run-hub.js';
import type { SharedReads } from '../live/shared-reads.js';
import type { AcceptDeps } from '../runs/deps.js';

export type McpServerDeps = AcceptDeps &
  RunEndDeps & {
    databaseHealth: DatabaseHealth;
    heavyWork: HeavyWork;
    memory: ByteBudget;
    runHub: RunHub;
    sharedReads: SharedReads;
    config: Pick<Environment, 'publicUrl' | 'resultRetentionDays'>;
  };
