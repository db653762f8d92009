// The table of node results is partitioned while runs are executed: readers get the same answers, and no row is lost.
import assert from 'node:assert/strict';
import { execFile, type PromiseWithChild } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { drawing, http, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { startStack, type StartedStack } from '../../../harness/stack/stack.js';
import { makeDataDir, OWN_BUILD } from '../../../harness/stack/supervisor.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';

const PARTITIONS = 4;
const LANES = 4;

describe('node results that are partitioned', function () {
  this.timeout(600_000);
  let stack: StartedStack;
  let api: ApiClient;
  let target: HttpTarget;
  let project: number;
  let workflows: number[];

  before(async () => {
    target = await startHttpTarget();
    stack = await startStack({ dataDir: makeDataDir() });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    project = await api.createProject();
    const call = () => http(`${target.url}/called`);
    const each = node('for_each', { items: [1, 2, 3, 4, 5] });
    const inBody = call();
    each.data['body_node'] = inBody.id;
    const loop = drawing([...linkInRow([trigger(), each]), inBody]);
    workflows = [
      await api.createWorkflow(project, drawing(linkInRow([trigger(), call(), call()]))),
      await api.createWorkflow(project, loop),
    ];
  });
  after(async () => {
    await stack.stop();
    await target.close();
    rmSync(stack.dataDir, { recursive: true, force: true });
  });

  const command = (): PromiseWithChild<{ stdout: string }> => {
    const args = [path.join(OWN_BUILD, 'cli/admin.js'), 'database', 'partition', '--into', String(PARTITIONS)];
    return promisify(execFile)(process.execPath, args, { env: { ...process.env, DATA_DIR: stack.dataDir } });
  };
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: stack.stack.database_url });
    await client.connect();
    return client;
  };
  const partition = async (): Promise<Record<string, unknown>> => JSON.parse((await command()).stdout) as never;
  const count = async (table: string): Promise<number> =>
    (await queryDatabase<{ rows: number }>(stack, `SELECT count(*)::integer AS rows FROM ${table}`))[0]!.rows;

  it('are not partitioned when the command is killed, and the next command continues', async () => {
    for (const workflow of workflows) await execute(workflow);
    const client = await connect();
    // The tables cannot be exchanged while another transaction uses the old one.
    await client.query('BEGIN; LOCK TABLE node_results IN ACCESS SHARE MODE');
    const dying = command();
    const died = assert.rejects(dying);
    await eventually(async () => (await count('node_results_next')) === (await count('node_results')));
    dying.child.kill('SIGKILL');
    await died;
    await client.query('ROLLBACK');
    await client.end();
    // The trigger copies what changes meanwhile.
    await execute(workflows[1]!);
    assert.equal(await count('node_results_next'), await count('node_results'));
    assert.equal(await count("pg_class WHERE relname = 'node_results' AND relkind = 'p'"), 0);
  });
  const execute = async (workflow: number): Promise<string> =>
    (await api.pollToEnd((await api.run(workflow)).data.id)).data.id;
  const resultsOf = async (runId: string): Promise<string> => JSON.stringify((await api.poll(runId)).data);

  /**
   * Calls `use` while the command is working. Another transaction keeps the command from exchanging the tables, until
   * the command is killed.
   */
  async function withCopies(use: () => Promise<void>): Promise<void> {
    const reader = await connect();
    await reader.query('BEGIN; LOCK TABLE node_results IN ACCESS SHARE MODE');
    const dying = command();
    const died = assert.rejects(dying);
    try {
      await use();
      await eventually(async () => (await count('node_results_next')) === (await count('node_results')));
      assert.equal(dying.child.exitCode, null, 'the command has failed');
    } finally {
      dying.child.kill('SIGKILL');
      await died;
      await reader.end();
    }
  }

  it('are copied while a run ends, whose transaction locks the run and then changes its results', async () => {
    const runId = await execute(workflows[0]!);
    await queryDatabase(stack, 'DELETE FROM node_results_next WHERE run_id = $1', [runId]);
    const ending = await connect();
    try {
      await ending.query('BEGIN');
      await ending.query('SELECT FROM runs WHERE id = $1 FOR UPDATE', [runId]);
      const waits = `pg_stat_activity WHERE datname = current_database() AND application_name = 'admin'
      AND wait_event_type = 'Lock' AND query LIKE '%node_results_next%'`;
      await withCopies(async () => {
        // The batch has locked its rows, and waits for a lock on the row of the run, which its foreign key needs.
        await eventually(async () => (await count(waits)) > 0, { intervalMs: 5 });
        await ending.query(
          `UPDATE node_results SET attempts = 7
         WHERE run_id = $1 AND node_id = (SELECT min(node_id) FROM node_results WHERE run_id = $1)`,
          [runId],
        );
        await ending.query('COMMIT');
      });
    } finally {
      await ending.end();
    }
    assert.equal(await count('node_results_next WHERE attempts = 7'), await count('node_results WHERE attempts = 7'));
  });

  it('are copied in batches of few bytes where they are large', async () => {
    const runId = await execute(workflows[1]!);
    const large = `(SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 150000))`;
    const changed = `UPDATE node_results SET result = json_build_object('content', ${large}) WHERE run_id = $1`;
    await queryDatabase(stack, changed, [runId]);
    await queryDatabase(stack, 'DELETE FROM node_results_next WHERE run_id = $1', [runId]);
    const ofRun = `node_results_next WHERE run_id = '${runId}'`;
    await withCopies(() => Promise.resolve());
    assert.ok((await count(ofRun)) > 5);
    const batches = await count(`(SELECT DISTINCT xmin::text FROM ${ofRun}) AS batches`);
    assert.ok(batches > 1, `${batches} transactions`);
  });

  /** Returns how many bytes a run of the chain adds to those that the project stores. */
  const bytesOfRun = async (): Promise<number> => {
    const sum = `SELECT (coalesce((SELECT bytes FROM stored_bytes WHERE project_id = $1), 0)
      + coalesce((SELECT sum(bytes) FROM stored_byte_changes WHERE project_id = $1), 0))::float8 AS bytes`;
    const stored = async (): Promise<number> =>
      (await queryDatabase<{ bytes: number }>(stack, sum, [project]))[0]!.bytes;
    const before = await stored();
    await execute(workflows[0]!);
    return (await stored()) - before;
  };

  it('are partitioned while runs are executed, and readers get the same answers as before', async () => {
    const earlier = [await execute(workflows[0]!), await execute(workflows[1]!)];
    const before = await Promise.all(earlier.map(resultsOf));
    const bytes = await bytesOfRun();
    const over = new AbortController();
    const during: string[] = [];
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      while (!over.signal.aborted) during.push(await execute(workflows[lane % 2]!));
    });
    const done = await partition().finally(() => over.abort());
    await Promise.all(lanes);
    assert.equal(done['partitions'], PARTITIONS);
    assert.ok(during.length > 0);
    assert.deepEqual(await Promise.all(earlier.map(resultsOf)), before);
    for (const runId of [...during, await execute(workflows[0]!), await execute(workflows[1]!)]) {
      const { data } = await api.poll(runId);
      assert.equal(data.status, 'succeed');
      assert.ok(
        Object.values(data.data!).every(({ status }) => status === 'succeed'),
        runId,
      );
    }
    // The triggers that count bytes now belong to the new table.
    const after = await bytesOfRun();
    assert.ok(bytes > 0 && Math.abs(after - bytes) < bytes / 10, `${after} bytes, ${bytes} before`);
    await assert.rejects(partition(), /partitioned already/);
    const parts = await queryDatabase<{ rows: number }>(
      stack,
      `SELECT (xpath('/row/c/text()', query_to_xml(format('SELECT count(*) AS c FROM %s', inhrelid::regclass), false, true, '')))[1]::text::integer AS rows
       FROM pg_inherits WHERE inhparent = 'node_results'::regclass`,
    );
    assert.equal(parts.length, PARTITIONS);
    assert.ok(parts.every(({ rows }) => rows > 0));
  });

  it('stay partitioned when the service is started again', async () => {
    const dataDir = stack.dataDir;
    const earlier = await execute(workflows[0]!);
    const before = await resultsOf(earlier);
    await stack.stop({ keep: true });
    stack = await startStack({ dataDir });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    assert.equal(await count("pg_class WHERE relname = 'node_results' AND relkind = 'p'"), 1);
    assert.equal(await count("pg_inherits WHERE inhparent = 'node_results'::regclass"), PARTITIONS);
    assert.equal(await resultsOf(earlier), before);
    for (const workflow of workflows) {
      const runId = await execute(workflow);
      assert.equal((await api.poll(runId)).data.status, 'succeed');
      const stored = `node_results WHERE tableoid <> 'node_results'::regclass AND run_id = '${runId}'`;
      assert.ok((await count(stored)) > 0, 'its results are in a partition');
    }
  });
});
