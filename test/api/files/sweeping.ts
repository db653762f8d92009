// Builds the dependencies of `sweepFiles` as the API process of a stack does.
import path from 'node:path';
import { pino } from 'pino';
import type { sweepFiles } from '../../../api/background/sweep-files.js';
import { readSecrets } from '../../../cli/embedded/secrets-file.js';
import { createDatabase } from '../../../db/core/client.js';
import { openFiles } from '../../../files/open-files.js';
import type { TestStack } from '../../../harness/stack/stack.js';

const RETENTION_DAYS = 30;

export function sweepingDeps(stack: TestStack, folder = path.join(stack.dataDir, 'files')) {
  const db = createDatabase({
    url: stack.stack.database_url,
    poolMax: 4,
    applicationName: 'test-sweep',
    onError: () => undefined,
  });
  const keys = [Buffer.from(readSecrets(stack.dataDir)!.SECRETS_KEY, 'base64')];
  const files = openFiles(db, keys, { fileStore: { folder }, maxFileBytes: 100 * 2 ** 20 });
  const config = { resultRetentionDays: RETENTION_DAYS };
  const deps: Parameters<typeof sweepFiles>[0] = { db, files, config, logger: pino({ level: 'silent' }) };
  return { deps, close: () => db.destroy() };
}
