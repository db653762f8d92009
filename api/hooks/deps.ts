import type { Environment } from '../../config/environment.js';
import type { DatabaseHealth } from '../../db/core/pulse.js';
import type { Files } from '../../files/files.js';
import type { HeavyWork } from '../http/heavy-work.js';
import type { AcceptDeps } from '../runs/deps.js';

export type HookDeps = AcceptDeps & {
  databaseHealth: DatabaseHealth;
  files: Files;
  heavyWork: HeavyWork;
  config: Pick<Environment, 'publicUrl'>;
};
