import type { Database } from '../../../db/core/client.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import type { RunContexts } from '../../node/run-context.js';
import type { SharedWrites } from '../../node/shared-writes.js';
import type { JudgeFor } from '../judge-conditions.js';

export interface LoopDeps {
  db: Database;
  writes: SharedWrites;
  secretBox: SecretBox;
  contexts: RunContexts;
  judge: JudgeFor;
}
