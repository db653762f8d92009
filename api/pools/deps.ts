import type { Database } from '../../db/core/client.js';
import type { AccessDeps } from '../access/deps.js';
import type { ReadPools } from './pool-figures.js';

export interface PoolDeps extends AccessDeps {
  db: Database;
  readPools: ReadPools;
}
