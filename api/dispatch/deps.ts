import type { Environment } from '../../config/environment.js';
import type { DatabaseHealth } from '../../db/core/pulse.js';
import type { Files } from '../../files/files.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { AccessDeps } from '../access/deps.js';
import type { AuditDeps } from '../audit/deps.js';
import type { HeavyWork } from '../http/heavy-work.js';
import type { OpenStreams } from '../live/open-streams.js';

export type DispatchDeps = AccessDeps &
  AuditDeps & {
    databaseHealth: DatabaseHealth;
    files: Files;
    memory: ByteBudget;
    heavyWork: HeavyWork;
    openStreams: OpenStreams;
    config: Pick<Environment, 'corsOrigins' | 'publicUrl'>;
  };
