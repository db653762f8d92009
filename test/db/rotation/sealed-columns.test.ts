import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { countByKey, resealColumn, SEALED_COLUMNS, type SealedColumn } from '../../../db/rotation/sealed-columns.js';
import { createSecretBox, type SecretContext } from '../../../db/core/secret-box.js';
import { createProject } from '../../../db/projects/projects-repository.js';
import { reserveId } from '../../../db/core/reserve-id.js';
import { createUser } from '../../../db/users/users-repository.js';
import { findDraft, storeDraft } from '../../../db/workflows/drafts-repository.js';
import { createWorkflow } from '../../../db/workflows/workflows-repository.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { withMigratedDatabase } from '../migrated-database.js';

/** Columns of bytes that are not secret. */
const PLAIN_BYTES = [
  // A hash, and the key that has sealed the bytes in the store of files.
  'file_copies.sha256',
  'file_copies.seal',
  'files.sha256',
  'api_keys.key_hash',
  'audit_chains.expired_hash',
  'audit_chains.last_hash',
  'audit_records.hash',
  'audit_refusals.key',
  'connection_sign_ins.cookie_hash',
  'connection_sign_ins.state_hash',
  'graph_snapshots.hash',
  'hooks.token_hash',
  'login_failures.key',
  'login_waits.key',
  'runs.snapshot_hash',
  'sessions.family_hash',
  'sessions.token_hash',
  'sign_in_links.token_hash',
  'stored_graphs.hash',
  'workflows.published_snapshot',
  'waits.token_hash',
];

describe('sealed columns', function () {
  this.timeout(120_000);
  const [old, fresh] = [randomBytes(32), randomBytes(32)];
  const sealedBefore = createSecretBox([old]);
  const rotated = createSecretBox([fresh, old]);
  let stack: TestStack;
  let db: Database;
  let projectId: number;
  let column: SealedColumn;

  before(async () => {
    stack = await sharedStack();
    db = createDatabase({
      url: stack.stack.database_url,
      poolMax: 4,
      applicationName: 'test',
      onError: () => undefined,
    });
    projectId = await createApiClient(stack.apiUrl, stack.apiKey).createProject();
    // The test has its own table, because the stack's values are sealed with the stack's key.
    await sql`CREATE TABLE sealed_drill (LIKE provider_keys INCLUDING ALL)`.execute(db);
    column = {
      table: 'sealed_drill' as 'provider_keys',
      column: 'key_enc',
      context: 'provider-key',
      key: ['id'],
      row: ['project_id', 'provider'],
    };
  });
  after(async () => {
    await sql`DROP TABLE sealed_drill`.execute(db);
    await db.destroy();
  });
  beforeEach(() => sql`TRUNCATE sealed_drill`.execute(db));

  const insert = async (sealed: Buffer): Promise<void> => {
    await sql`
      INSERT INTO sealed_drill (project_id, provider, name, key_enc, masked_key)
      VALUES (${projectId}, 'p', ${randomUUID()}, ${sealed}, '')`.execute(db);
  };
  const values = async (): Promise<Buffer[]> => {
    const { rows } = await sql<{ key_enc: Buffer }>`SELECT key_enc FROM sealed_drill ORDER BY id`.execute(db);
    return rows.map((row) => row.key_enc);
  };

  it('are all in the registry, with their primary keys: no column of bytes is forgotten', async () => {
    const bytes = await queryDatabase<{ name: string }>(
      stack,
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND data_type = 'bytea' AND table_name <> 'sealed_drill'`,
    );
    const known = [...SEALED_COLUMNS.map(({ table, column: name }) => `${table}.${name}`), ...PLAIN_BYTES];
    assert.deepEqual(bytes.map(({ name }) => name).toSorted(), known.toSorted());
    for (const { table, key } of SEALED_COLUMNS) {
      const parts = await queryDatabase<{ name: string }>(
        stack,
        `SELECT attname AS name FROM pg_index CROSS JOIN unnest(indkey) WITH ORDINALITY AS part (number, position)
         JOIN pg_attribute ON attrelid = indrelid AND attnum = part.number
         WHERE indrelid = $1::regclass AND indisprimary ORDER BY position`,
        [table],
      );
      assert.deepEqual(
        parts.map(({ name }) => name),
        key,
        table,
      );
    }
  });

  it('every kind of value is in the registry', () => {
    const kinds = {
      'workflow-secrets': true,
      'draft-secrets': true,
      'run-input': true,
      'run-secrets': true,
      'passed-secrets': true,
      'loop-item': true,
      'node-result': true,
      'provider-key': true,
      'idempotency-key': true,
      'agent-tools': true,
      'agent-message': true,
      'agent-arguments': true,
      'agent-answer': true,
      'agent-edit': true,
      'callback-token': true,
      'callback-answer': true,
      'hook-token': true,
      'hook-secret': true,
      'connection-secrets': true,
      'connection-tokens': true,
      'connection-flow': true,
      'fixed-result': true,
      case: true,
      'case-result': true,
      'case-run': true,
      pin: true,
      'schedule-input': true,
      'conversation-inputs': true,
      message: true,
      'human-answer': true,
      'webhook-secret': true,
      // Only clients store sessions of MCP clients, links to files and tokens of assistants' runs; no column has them.
    } satisfies Record<Exclude<SecretContext, 'file-link' | 'tool-session' | 'assistant-token'>, true>;
    assert.deepEqual(
      [...new Set(SEALED_COLUMNS.map(({ context }) => context))].toSorted(),
      Object.keys(kinds).toSorted(),
    );
  });

  it('are sealed with the first key, batch after batch, and read as before', async () => {
    const texts = Array.from({ length: 450 }, (_, index) => `value-${index}`);
    const sealed = texts.map((text) => sealedBefore.seal(text, 'provider-key', projectId, 'p'));
    await sql`
      INSERT INTO sealed_drill (project_id, provider, name, key_enc, masked_key)
      SELECT ${projectId}, 'p', '', value, '' FROM unnest(${sealed}::bytea[]) AS value`.execute(db);
    assert.deepEqual([...(await countByKey(db, column))], [[sealedBefore.keyId, 450]]);
    assert.equal(await resealColumn(db, rotated, column), 450);
    assert.deepEqual([...(await countByKey(db, column))], [[rotated.keyId, 450]]);
    const alone = createSecretBox([fresh]);
    assert.deepEqual(
      (await values()).map((value) => alone.open(value, 'provider-key', projectId, 'p')),
      texts,
    );
    assert.equal(await resealColumn(db, rotated, column), 0, 'nothing is left to do');
  });

  it('a draft is sealed anew for its workflow and its user', async () => {
    const draft = SEALED_COLUMNS.find(({ table }) => table === 'workflow_drafts')!;
    await withMigratedDatabase(async (own) => {
      const { id: userId } = await createUser(own, { name: 'test', apiAccess: true });
      const { id: place } = await createProject(own, userId, {
        name: 'test',
        webhook_url: '',
        is_webhook_enabled: false,
        webhook_secret_enc: Buffer.from('x'),
      });
      const id = await reserveId(own, 'workflows');
      const empty = { document: '{}', secretsEnc: null };
      await createWorkflow(own, { id, projectId: place, authorId: userId, title: 'test', ...empty });
      const secretsEnc = sealedBefore.seal('{"a":"secret"}', 'draft-secrets', place, id, userId);
      await storeDraft(own, { workflowId: id, userId, document: '{}', secretsEnc, baseVersion: 1, writtenBy: null });
      assert.equal(await resealColumn(own, rotated, draft), 1);
      const stored = await findDraft(own, { workflowId: id, userId });
      const alone = createSecretBox([fresh]);
      assert.equal(alone.open(stored!.secrets_enc!, 'draft-secrets', place, id, userId), '{"a":"secret"}');
      assert.throws(() => alone.open(stored!.secrets_enc!, 'draft-secrets', place, id, userId + 1));
    });
  });

  it('a value that no key opens is left, and those behind it are done', async () => {
    const lost = createSecretBox([randomBytes(32)]).seal('lost', 'provider-key', projectId, 'p');
    const broken = sealedBefore.seal('broken', 'provider-key', projectId + 1, 'p');
    for (const value of [lost, broken, sealedBefore.seal('kept', 'provider-key', projectId, 'p')]) await insert(value);
    assert.equal(await resealColumn(db, rotated, column), 1);
    const [first, second, third] = await values();
    assert.deepEqual([first, second], [lost, broken]);
    assert.equal(rotated.open(third!, 'provider-key', projectId, 'p'), 'kept');
  });

  it('what the service writes meanwhile stands', async () => {
    await insert(sealedBefore.seal('first', 'provider-key', projectId, 'p'));
    const written = rotated.seal('written meanwhile', 'provider-key', projectId, 'p');
    const isWaiting = async (): Promise<boolean> => {
      const text = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%sealed_drill%'`;
      return (await queryDatabase(stack, text)).length > 0;
    };
    const resealing = await db.transaction().execute(async (transaction) => {
      await sql`UPDATE sealed_drill SET key_enc = ${written}`.execute(transaction);
      const waits = resealColumn(db, rotated, column);
      await eventually(isWaiting); // `resealColumn` has read the old value
      return [waits];
    });
    assert.equal(await resealing[0], 0);
    assert.deepEqual(await values(), [written]);
  });
});
