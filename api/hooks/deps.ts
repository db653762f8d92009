import type { Environment } from '../../config/environment.js';
import type { Files } from '../../files/files.js';
import type { HeavyWork } from '../http/heavy-work.js';
import type { AcceptDeps } from '../runs/deps.js';

export type HookDeps = AcceptDeps & {
  files: Files;
  heavyWork: HeavyWork;
  config: Pick<Environment, 'publicUrl'>;
};
