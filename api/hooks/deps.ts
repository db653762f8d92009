import type { Environment } from '../../config/environment.js';
import type { Files } from '../../files/files.js';
import type { AcceptDeps } from '../runs/deps.js';

export type HookDeps = AcceptDeps & {
  files: Files;
  config: Pick<Environment, 'publicUrl'>;
};
