// Drawings that earlier builds have stored with credentials in headers. The test has a database of its own.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sealHeaders } from '../../../api/background/seal-headers.js';
import { openSecrets, sealSecrets } from '../../../acceptance/opened-drawing.js';
import { createLogger } from '../../../telemetry/logger.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { migrateToLatest } from '../../../db/schema/migrate.js';
import { createSecretBox, type SecretBox } from '../../../db/core/secret-box.js';
import { createUser } from '../../../db/users/users-repository.js';
import { openRunSecrets } from '../../../db/runs/run-contents.js';
import { insertAcceptedRun } from '../../../db/runs/runs-repository.js';
import { storeSnapshot } from '../../../db/runs/snapshots-repository.js';
import { compilePlan } from '../../../graph/compile-plan.js';
import { eventually } from '../../support/eventually.js';
import { drawing, http, linkInRow, trigger } from '../../support/graphs.js';
import { queryDatabase, tablesWith } from '../../support/inspect.js';
import { secretsOf } from '../../support/service-process.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../support/stack.js';
import { assertBytesRight } from '../../support/stored-bytes.js';
import { startApiProcess } from '../api-process.js';

const MASK = '********';
const CANARY = 'canary-of-old';
const TABLES = ['workflows', 'workflow_versions', 'graph_snapshots', 'runs'];
const FAR = 100_000;

describe('drawings that earlier builds have stored', function () {
  this.timeout(120_000);
  let shared: TestStack;
  let stack: TestStack;
  let db: Database;
  let box: SecretBox;
  let userId: number;
  let projectId: number;

  beforeEach(async () => {
    shared = await sharedStack();
    const name = `sealing_${randomUUID().replaceAll('-', '')}`;
    await queryDatabase(shared, `CREATE DATABASE ${name}`);
    const url = new URL(shared.stack.database_url);
    url.pathname = `/${name}`;
    stack = { ...shared, stack: { ...shared.stack, database_url: url.href } };
    db = connect('test');
    await migrateToLatest(db);
    const keys = secretsOf(shared).SECRETS_KEY.split(',');
    box = createSecretBox(keys.map((key) => Buffer.from(key, 'base64')));
    userId = (await createUser(db, { name: 'of a test', apiAccess: true })).id;
    const project = { name: 'of a test', created_by: userId };
    projectId = (await db.insertInto('projects').values(project).returning('id').executeTakeFirstOrThrow()).id;
  });
  afterEach(async () => {
    await db.destroy();
    const { pathname } = new URL(stack.stack.database_url);
    await queryDatabase(shared, `DROP DATABASE ${pathname.slice(1)} WITH (FORCE)`);
  });

  function connect(applicationName: string): Database {
    const url = stack.stack.database_url;
    return createDatabase({ url, poolMax: 4, applicationName, onError: () => undefined });
  }

  const sealOnce = (): Promise<string> =>
    sealHeaders({ db, secretBox: box, logger: createLogger('test', 'silent') }, new AbortController().signal);

  /** Graphs come a minute after the drawings. */
  async function seal(): Promise<string> {
    await sealOnce();
    await queryDatabase(stack, `UPDATE header_sealing SET done_at = done_at - interval '1 minute'`);
    return sealOnce();
  }

  /** As the build before stored it: the secret field is cut out, the header is not. */
  function draw(value: string): Record<string, unknown> {
    const start = trigger([{ id: 'token', type: 'text', is_secret: true, default_value: MASK }]);
    const headers = { Authorization: value, Cookie: 'Bearer {{ input.token }}', Accept: '*/*' };
    const address = `https://user:${value.replace('Bearer ', '')}@api.test/x`;
    return JSON.parse(JSON.stringify(drawing(linkInRow([start, http(address, { headers })])))) as never;
  }

  /** With the address, whose user name and password are sealed like headers. */
  function headersIn(document: Record<string, unknown>): unknown {
    const { url, headers } = (document['nodes'] as { data: { url: string; headers: object } }[])[1]!.data;
    return { ...headers, url };
  }
  const SEALED = {
    Authorization: MASK,
    Cookie: 'Bearer {{ input.token }}',
    Accept: '*/*',
    url: `https://${MASK}@api.test/x`,
  };

  function secretsOfDrawing(document: Record<string, unknown>, value: string): Record<string, unknown> {
    const [start, call] = (document['nodes'] as { id: string }[]).map(({ id }) => id);
    const credentials = `user:${value.replace('Bearer ', '')}`;
    return {
      [`field:${start}:token`]: 'T',
      [`header:${call}:authorization`]: value,
      [`address:${call}`]: credentials,
    };
  }

  async function insertWorkflow(document: Record<string, unknown>): Promise<number> {
    const values = { project_id: projectId, author_id: userId, title: 'old', document: JSON.stringify(document) };
    const sorted = { ...values, sort_id: Math.ceil(Math.random() * 1e9) };
    const { id } = await db.insertInto('workflows').values(sorted).returning('id').executeTakeFirstOrThrow();
    const secretsEnc = sealSecrets(box, { [fieldOf(document)]: 'T' }, 'workflow-secrets', projectId, id);
    await db.updateTable('workflows').set({ secrets_enc: secretsEnc }).where('id', '=', id).execute();
    return id;
  }

  const fieldOf = (document: Record<string, unknown>): string =>
    `field:${(document['nodes'] as { id: string }[])[0]!.id}:token`;

  async function insertVersion(workflowId: number, version: number, document: Record<string, unknown>): Promise<void> {
    await db
      .insertInto('workflow_versions')
      .values({
        workflow_id: workflowId,
        version,
        author_id: userId,
        document: JSON.stringify(document),
        secrets_enc: null,
        created_at: new Date(),
      })
      .execute();
  }

  async function insertRun(workflowId: number, document: Record<string, unknown>, status: string): Promise<string> {
    const compiled = compilePlan(document);
    assert.ok(compiled.ok);
    const id = randomUUID();
    const run = {
      id,
      workflow_id: workflowId,
      project_id: projectId,
      user_id: userId,
      snapshot_hash: await storeSnapshot(db, JSON.stringify(document), compiled.plan),
      input: '{}',
      input_enc: null,
      secrets_enc: sealSecrets(box, { [fieldOf(document)]: 'T' }, 'run-secrets', projectId, id),
    };
    await insertAcceptedRun(db, run, FAR);
    if (status !== 'In Progress') await endRun(id, status);
    return id;
  }

  async function endRun(id: string, status: string): Promise<void> {
    const text = 'UPDATE runs SET status = $2, run_finished_at = now(), next_check_at = NULL WHERE id = $1';
    await queryDatabase(stack, text, [id, status]);
  }

  async function readRun(id: string): Promise<{ headers: unknown; secrets: Record<string, unknown> }> {
    const row = await db
      .selectFrom('runs')
      .innerJoin('graph_snapshots', 'graph_snapshots.hash', 'runs.snapshot_hash')
      .select(['graph_snapshots.document', 'runs.secrets_enc'])
      .where('runs.id', '=', id)
      .executeTakeFirstOrThrow();
    return { headers: headersIn(row.document), secrets: openRunSecrets(box, row.secrets_enc, [projectId, id]) };
  }

  it('are sealed: workflows, versions and runs that have ended; their values stay, and revisions too', async () => {
    const [now, before, ran] = [draw(`Bearer ${CANARY}-1`), draw(`Bearer ${CANARY}-2`), draw(`Bearer ${CANARY}-3`)];
    const id = await insertWorkflow(now);
    await insertVersion(id, 1, before);
    const runs = [await insertRun(id, ran, 'Succeeded'), await insertRun(id, ran, 'Draft')];
    const expired = await insertRun(id, ran, 'Error');
    await queryDatabase(stack, 'UPDATE runs SET results_expired_at = now(), secrets_enc = NULL WHERE id = $1', [
      expired,
    ]);
    await queryDatabase(
      stack,
      'UPDATE workflows SET published_snapshot = (SELECT snapshot_hash FROM runs WHERE id = $1)',
      [runs[0]],
    );
    const empty = { nodes: [{ id: 'x', type: 'trigger-node', data: {} }], edges: [] };
    const plain = await insertWorkflow(empty);
    // Sealing is not refused, however full the project is, because nobody has asked for it.
    await queryDatabase(stack, 'INSERT INTO stored_bytes_limit (bytes) VALUES (1)');
    const revisions = await queryDatabase(stack, 'SELECT id, revision, version, updated_at FROM workflows ORDER BY id');
    assert.equal(await seal(), 'done');

    assert.deepEqual(await tablesWith(stack, TABLES, [CANARY]), []);
    const rows = await db.selectFrom('workflows').selectAll().orderBy('id').execute();
    assert.deepEqual(headersIn(rows[0]!.document), SEALED);
    assert.deepEqual(openSecrets(box, rows[0]!), secretsOfDrawing(now, `Bearer ${CANARY}-1`));
    assert.deepEqual([rows[1]!.id, rows[1]!.document], [plain, empty]);
    assert.deepEqual(
      await queryDatabase(stack, 'SELECT id, revision, version, updated_at FROM workflows ORDER BY id'),
      revisions,
    );
    const version = await db.selectFrom('workflow_versions').selectAll().executeTakeFirstOrThrow();
    assert.deepEqual(headersIn(version.document), SEALED);
    const { [fieldOf(before)]: _, ...ofVersion } = secretsOfDrawing(before, `Bearer ${CANARY}-2`);
    assert.deepEqual(openSecrets(box, { id, project_id: projectId, secrets_enc: version.secrets_enc }), ofVersion);
    for (const run of runs) {
      const sealed = { headers: SEALED, secrets: secretsOfDrawing(ran, `Bearer ${CANARY}-3`) };
      assert.deepEqual(await readRun(run), sealed);
    }
    assert.deepEqual(await readRun(expired), { headers: SEALED, secrets: {} }, 'what has expired stays so');
    const published = `SELECT document FROM graph_snapshots WHERE hash = (SELECT published_snapshot FROM workflows WHERE id = $1)`;
    const [graph] = await queryDatabase<{ document: Record<string, unknown> }>(stack, published, [id]);
    assert.deepEqual(headersIn(graph!.document), SEALED);
    assert.equal((await queryDatabase(stack, 'SELECT FROM graph_snapshots')).length, 1, 'the old graph is gone');
    await assertBytesRight(stack, projectId);
    assert.equal(await seal(), 'done', 'once more changes nothing');
    assert.deepEqual(openSecrets(box, rows[0]!), secretsOfDrawing(now, `Bearer ${CANARY}-1`));
  });

  it('of runs in flight stay until they have ended', async () => {
    const ran = draw(CANARY);
    const id = await insertWorkflow(draw('other'));
    const [open, ended] = [await insertRun(id, ran, 'In Progress'), await insertRun(id, ran, 'Succeeded')];
    assert.equal(await seal(), 'left');
    const untouched = await readRun(open);
    assert.deepEqual(untouched.headers, {
      ...SEALED,
      Authorization: CANARY,
      url: `https://user:${CANARY}@api.test/x`,
    });
    assert.deepEqual(untouched.secrets, { [fieldOf(ran)]: 'T' });
    assert.deepEqual((await readRun(ended)).headers, SEALED);
    await assertBytesRight(stack, projectId);
    await endRun(open, 'Cancelled');
    assert.equal(await seal(), 'done');
    assert.deepEqual(await readRun(open), { headers: SEALED, secrets: secretsOfDrawing(ran, CANARY) });
    assert.deepEqual(await tablesWith(stack, TABLES, [CANARY]), []);
    await assertBytesRight(stack, projectId);
  });

  it('of a run that was being accepted while its workflow was sealed are sealed, too', async () => {
    const ran = draw(CANARY);
    const id = await insertWorkflow(ran);
    assert.equal(await sealOnce(), 'left');
    const run = await insertRun(id, ran, 'Succeeded');
    assert.equal(await sealOnce(), 'left', 'graphs are not looked at yet');
    assert.equal(await seal(), 'done');
    assert.deepEqual(await readRun(run), { headers: SEALED, secrets: secretsOfDrawing(ran, CANARY) });
    assert.deepEqual(await tablesWith(stack, TABLES, [CANARY]), []);
  });

  it('wait while an earlier build is connected, and what it stores meanwhile is sealed after it', async () => {
    await insertWorkflow(draw(`${CANARY}-1`));
    const older = connect('worker');
    await older.selectFrom('users').select('id').execute();
    assert.equal(await seal(), 'waiting');
    assert.deepEqual(await tablesWith(stack, TABLES, [CANARY]), ['workflows']);
    await older.destroy();
    await eventually(async () => (await seal()) === 'done');
    assert.deepEqual(await tablesWith(stack, TABLES, [CANARY]), []);

    const again = connect('api');
    await again.selectFrom('users').select('id').execute();
    const id = await insertWorkflow(draw('another'));
    await queryDatabase(stack, 'UPDATE workflows SET document = $2 WHERE id < $1', [id, draw(`${CANARY}-2`)]);
    assert.equal(await seal(), 'waiting');
    await again.destroy();
    await eventually(async () => (await seal()) === 'done');
    assert.deepEqual(await tablesWith(stack, TABLES, [CANARY]), []);
  });

  it('that cannot be opened are left, and hold up nobody', async () => {
    const id = await insertWorkflow(draw(`${CANARY}-1`));
    await queryDatabase(
      stack,
      `UPDATE workflows SET secrets_enc = overlay(secrets_enc placing 'none' from 2) WHERE id = $1`,
      [id],
    );
    const other = await insertWorkflow(draw(`${CANARY}-2`));
    assert.equal(await seal(), 'done');
    const rows = await db.selectFrom('workflows').select(['id', 'document']).orderBy('id').execute();
    assert.deepEqual(
      rows.map((row) => [row.id, headersIn(row.document)]),
      [
        [id, { ...SEALED, Authorization: `${CANARY}-1`, url: `https://user:${CANARY}-1@api.test/x` }],
        [other, SEALED],
      ],
    );
  });

  it('are sealed by the API after its start; killed in the middle, the next one goes on', async () => {
    const document = draw(CANARY);
    for (let index = 0; index < 12; index += 1) await insertWorkflow(document);
    // Many more of the same, with no secrets of their own.
    await queryDatabase(
      stack,
      `INSERT INTO workflows (project_id, author_id, title, sort_id, document)
        SELECT project_id, author_id, 'copy', 1000000000 + row_number() OVER (), document
        FROM workflows, generate_series(1, 150)`,
    );
    const left = async (): Promise<number> => {
      const text = `SELECT count(*)::integer AS left FROM workflows WHERE document::text LIKE '%${CANARY}%'`;
      return (await queryDatabase<{ left: number }>(stack, text))[0]!.left;
    };
    const all = await left();
    const first = await startApiProcess(stack);
    await eventually(async () => (await left()) < all, { intervalMs: 5 });
    process.kill(first.pid, 'SIGKILL');
    await first.stop();
    const rest = await left();
    assert.ok(rest > 0, 'it was killed in the middle');
    const second = await startApiProcess(stack);
    await eventually(async () => (await left()) === 0, { timeoutMs: 60_000 });
    await second.stop();
    const rows = await db.selectFrom('workflows').selectAll().execute();
    for (const row of rows) {
      const secrets = openSecrets(box, row);
      const call = Object.keys(secrets).find((name) => name.startsWith('header:'));
      assert.deepEqual([headersIn(row.document), secrets[call!]], [SEALED, CANARY]);
    }
    await assertBytesRight(stack, projectId);
  });
});
