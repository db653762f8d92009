import type { Client } from '@temporalio/client';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';

export interface CallbackDeps {
  db: Database;
  secretBox: SecretBox;
  temporal: Client;
}
