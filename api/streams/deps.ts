import type { Environment } from '../../config/environment.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { RunHub } from '../live/run-hub.js';
import type { SharedReads } from '../live/shared-reads.js';

export interface StreamDeps {
  db: Database;
  secretBox: SecretBox;
  memory: ByteBudget;
  runHub: RunHub;
  sharedReads: SharedReads;
  config: Pick<Environment, 'publicUrl' | 'resultRetentionDays'>;
}
