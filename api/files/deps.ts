import type { Environment } from '../../config/environment.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { Files } from '../../files/files.js';

export interface FileDeps {
  db: Database;
  secretBox: SecretBox;
  files: Files;
  config: Pick<Environment, 'publicUrl' | 'resultRetentionDays'>;
}
