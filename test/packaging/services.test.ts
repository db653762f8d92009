// The services of docker-compose.yml, started as processes in the order of the file. PostgreSQL and Temporal are those
// of the test stack.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import { findTemporalBinary } from '../../cli/embedded/temporal-binary.js';
import { RUN_SEARCH_ATTRIBUTES } from '../../contract/run-workflow.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { chain, drawing, http, link, trigger } from '../../harness/drawing/drawing.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { ROOT } from './compose-file.js';
import { SAMPLE_SECRETS } from './sample-secrets.js';
import { ComposeStack, type ServiceRun } from './compose-stack.js';

const LONG = { timeoutMs: 60_000, intervalMs: 250 };

describe('the services of docker-compose.yml', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let compose: ComposeStack;
  let tools: string;
  let client: ApiClient;
  let key: string;
  let api: ServiceRun;
  let worker: ServiceRun;

  before(async () => {
    stack = await sharedStack();
    compose = await ComposeStack.create(stack);
    tools = mkdtempSync(path.join(tmpdir(), 'temporal-tools-'));
    const { signal } = new AbortController();
    const configured = process.env['TEMPORAL_CLI'];
    const binary = await findTemporalBinary({ configured, env: process.env, report: () => undefined, signal });
    symlinkSync(binary, path.join(tools, 'temporal'));
  });

  after(async () => {
    await compose.remove();
    rmSync(tools, { recursive: true, force: true });
  });

  // These tests depend on each other, in the order of `depends_on`.

  it('temporal-namespace makes the namespace with the search attributes of runs, and may be repeated', async () => {
    for (let round = 1; round <= 2; round += 1) await compose.setUp('temporal-namespace', tools);
    const { TEMPORAL_NAMESPACE: namespace } = compose.environmentOf('api');
    const connection = await Connection.connect({ address: stack.stack.temporal_address });
    try {
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: namespace! });
      for (const name of Object.keys(RUN_SEARCH_ATTRIBUTES)) assert.ok(name in customAttributes, name);
      const described = await connection.workflowService.describeNamespace({ namespace: namespace! });
      assert.equal(Number(described.config?.workflowExecutionRetentionTtl?.seconds), 7 * 24 * 3600);
    } finally {
      await connection.close();
    }
  });

  it('an API that starts before the migrations waits for them: alive, and not healthy until they are there', async () => {
    assert.equal(await compose.health('api'), 1, 'nothing answers yet');
    api = compose.start('api');
    await eventually(async () => (await fetch(`${compose.apiUrl}/healthz`)).ok, LONG);
    const ready = await (await fetch(`${compose.metricsUrl}/readyz`)).json();
    // `files` is false because the mark of the file store is in a table that the migrations create.
    assert.deepEqual(ready, { status: 'not ready', database: true, migrations: false, files: false, temporal: true });
    assert.deepEqual(await (await fetch(`${compose.apiUrl}/readyz`)).json(), { status: 'not ready' });
    assert.equal(await compose.health('api'), 1);
  });

  it('migrate brings an empty database up to date, by several processes at once and again', async () => {
    const first = [compose.start('migrate'), compose.start('migrate')];
    assert.deepEqual(await Promise.all(first.map(({ exited }) => exited)), [0, 0]);
    const applied = first.flatMap((run) => /^Applied: (.+)\.\n$/.exec(run.output())?.[1]!.split(', ') ?? []);
    const migrations = readdirSync(path.join(ROOT, 'db/migrations')).flatMap(
      (file) => /^(\d.*)\.ts$/.exec(file)?.[1] ?? [],
    );
    const shipped = [...migrations, ...readdirSync(path.join(ROOT, 'db/routines')).map((file) => `routines/${file}`)];
    assert.deepEqual(applied.toSorted(), shipped.toSorted(), 'each by one of them');
    const again = compose.start('migrate');
    assert.equal(await again.exited, 0);
    assert.equal(again.output(), 'The database is up to date.\n');
    await eventually(async () => (await compose.health('api')) === 0, LONG);
  });

  it('the role of API and worker reads and writes rows, and can neither change the schema nor what was migrated', async () => {
    const connection = new pg.Client(compose.databaseUrl('api'));
    await connection.connect();
    try {
      const codeOf = (statement: string) =>
        connection.query(statement).then(
          () => 'done',
          (error: { code?: string }) => error.code,
        );
      assert.equal(await codeOf(`UPDATE projects SET name = name`), 'done');
      assert.equal(await codeOf(`DELETE FROM idempotency_keys`), 'done');
      assert.equal(await codeOf('UPDATE audit_records SET position = position, hash = hash WHERE false'), 'done');
      const denied = [
        'CREATE TABLE mine (id integer)',
        'CREATE TEMPORARY TABLE mine (id integer)',
        'ALTER TABLE projects ADD COLUMN mine integer',
        'ALTER TABLE projects DISABLE TRIGGER ALL',
        'CREATE INDEX mine ON projects (name)',
        'DROP TABLE projects',
        'TRUNCATE idempotency_keys',
        'CREATE SCHEMA mine',
        'DELETE FROM kysely_migration',
        'DELETE FROM audit_records',
        "UPDATE audit_records SET action = 'other'",
        'DELETE FROM audit_chains',
        "INSERT INTO kysely_migration VALUES ('9999', '')",
        'UPDATE kysely_migration_lock SET is_locked = 1',
        'DELETE FROM routine_files',
        'SET ROLE workflow_automation_owner',
      ];
      for (const statement of denied) assert.equal(await codeOf(statement), '42501', statement);
    } finally {
      await connection.end();
    }
  });

  it('migrate says in one sentence when there is no such role', async () => {
    const failed = compose.start('migrate', { DATABASE_RUNTIME_ROLE: 'nobody' });
    assert.equal(await failed.exited, 1);
    assert.equal(failed.output(), 'DATABASE_RUNTIME_ROLE: there is no role nobody.\n');
    const own = compose.start('migrate', { DATABASE_RUNTIME_ROLE: 'workflow_automation_owner' });
    assert.equal(await own.exited, 1);
    assert.match(own.output(), /^DATABASE_RUNTIME_ROLE: it must be another role than that of DATABASE_URL\.\n$/);
  });

  it('the worker becomes healthy, and a run goes from the API through it to its result', async () => {
    assert.equal(await compose.health('worker'), 1);
    worker = compose.start('worker');
    await eventually(async () => (await compose.health('worker')) === 0, LONG);
    const admin = async (...args: string[]) => {
      const { stdout } = await compose.exec('api', 'node', 'dist/cli/admin.js', ...args);
      return JSON.parse(stdout) as { id: number; api_key: string };
    };
    const { id } = await admin('user', 'create', '--name', 'First user');
    key = (await admin('key', 'create', '--user', String(id))).api_key;
    client = createApiClient(compose.apiUrl, key);
    assert.equal((await client.runToEnd(chain(4))).status, 'succeed');
  });

  it('the health checks of the images find both alive', async () => {
    const dockerfile = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8');
    const checks = [...dockerfile.matchAll(/^FROM runtime AS (\w+)$[^]*?^HEALTHCHECK[^]*?CMD (\[.*\])$/gm)];
    assert.deepEqual(new Set(checks.map(([, target]) => target)), new Set(['api', 'worker']));
    for (const [, target, command] of checks) await compose.exec(target!, ...(JSON.parse(command!) as string[]));
    const [, target, command] = checks[0]!;
    const nowhere = { PORT: '1', WORKER_METRICS_PORT: '1' };
    await assert.rejects(compose.execWith(nowhere, target!, ...(JSON.parse(command!) as string[])), { code: 1 });
  });

  it('in production no graph reaches an address inside, and a session token of the environment opens', async () => {
    const start = trigger();
    const inside = http(`${compose.apiUrl}/healthz`);
    link(start, inside);
    const { nodes } = await client.runToEnd(drawing([start, inside]));
    assert.equal(nodes[inside.id]?.error?.code, 'blocked_address');
    const { stdout } = await compose.exec('api', 'node', 'dist/cli/admin.js', 'jwt', 'issue', '--user', '1');
    const session = (JSON.parse(stdout) as { token: string }).token;
    assert.equal((await createApiClient(compose.apiUrl, { session }).get('/projects/')).status, 200);
  });

  it('a further worker needs nothing but a port of its own, and takes over when the first stops', async () => {
    const second = compose.start('worker', { WORKER_METRICS_PORT: '0' });
    await eventually(() => second.output().includes('worker started'), LONG);
    assert.equal(await worker.stop(), 0);
    assert.equal((await client.runToEnd(chain(4))).status, 'succeed');
    assert.equal(await second.stop(), 0);
  });

  it('a worker without its namespace ends by itself, so that it is started again', async () => {
    const lost = compose.start('worker', { TEMPORAL_NAMESPACE: 'missing', WORKER_METRICS_PORT: '0' });
    assert.equal(await lost.exited, 1);
    assert.match(lost.output(), /Namespace missing was not found/);
  });

  it('each ends with code 0 within the time that the file gives it, and says no secret while it lives', async () => {
    const before = performance.now();
    assert.equal(await api.stop(), 0);
    assert.ok(performance.now() - before < 15_000);
    const said = api.output() + worker.output();
    for (const secret of [...Object.values(SAMPLE_SECRETS), key]) assert.ok(!said.includes(secret));
  });
});
