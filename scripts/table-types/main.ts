// `npm run db:types`: writes db/core/table-types.ts from a temporary, migrated database.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { claimPort } from '../../cli/embedded/ports.js';
import { createPostgresServer } from '../../cli/embedded/postgres-server.js';
import { createDatabase } from '../../db/core/client.js';
import { migrateToLatest } from '../../db/schema/migrate.js';
import { generateTableTypes } from './generate.js';

const TARGET = path.resolve(import.meta.dirname, '../../db/core/table-types.ts');

const dataDir = mkdtempSync(path.join(tmpdir(), 'table-types-'));
// If root runs this, PostgreSQL runs as another user, who must be able to enter the folder.
chmodSync(dataDir, 0o755);
const server = createPostgresServer({ dataDir, password: 'of a minute', env: process.env });
await server.prepare();
const { url, command, isReady } = server.on(await claimPort({ port: 0, host: '127.0.0.1', variable: 'PORT' }));
const { file, args, ...options } = command;
const child = spawn(file, args, { ...options, stdio: 'ignore' });
const ended = once(child, 'exit');
try {
  while (child.exitCode === null && !(await isReady().catch(() => false))) await pause(100);
  const db = createDatabase({ url, poolMax: 1, applicationName: 'table-types', onError: () => undefined });
  await migrateToLatest(db);
  writeFileSync(TARGET, await generateTableTypes(db));
  await db.destroy();
} finally {
  child.kill('SIGINT');
  await ended;
  rmSync(dataDir, { recursive: true, force: true });
}
