// PostgreSQL with a full disk, frozen, killed and read-only, while clients start runs and runs are in flight. Checks
// the answers of the API, and that all runs continue by themselves, without a lost or repeated result
// (docs/operate/database.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { createApiClient, type ApiAnswer, type ApiClient, type Envelope } from '../../harness/client/api-client.js';
import { drawing, http, linkInRow, llm, trigger } from '../../harness/drawing/drawing.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { eventually } from '../../harness/timing/eventually.js';
import { createOwnPostgres, noSmallDisk, type OwnPostgres } from '../support/own-postgres.js';

const DISK_MIB = 300;
/** The API promises an answer within this time, also during an outage. */
const ANSWER_WITHIN_MS = 10_000;
const CLIENTS = 3;
const PAUSE_MS = 200;
/** The limit for the log of API and worker during an outage, in which each background loop reports once a round. */
const MOST_LINES_A_SECOND = 40;

const READS = [
  '/projects/',
  '/all-workflows/',
  '/workflows/marketplace/',
  '/agent-approvals/',
  '/human-tasks/',
  '/categories/',
  '/runs/',
  '/me/',
];

interface Start {
  key: string;
  statuses: number[];
  runId?: string;
}

/** Clients that start runs one after the other, and repeat a refused start with the same `Idempotency-Key`. */
class Load {
  readonly starts: Start[] = [];
  readonly complaints: string[] = [];
  slowestMs = 0;
  #isStopped = false;
  readonly #clients: Promise<void>[];

  constructor(api: ApiClient, workflowId: number) {
    this.#clients = Array.from({ length: CLIENTS }, async () => {
      while (!this.#isStopped) {
        await this.#startOne(api, workflowId);
        await pause(PAUSE_MS);
      }
    });
  }

  get accepted(): Start[] {
    return this.starts.filter(({ runId }) => runId !== undefined);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
  }

  async #startOne(api: ApiClient, workflowId: number): Promise<void> {
    const start: Start = { key: randomUUID(), statuses: [] };
    this.starts.push(start);
    while (start.runId === undefined && !this.#isStopped) {
      const answer = await timed(() =>
        api.post<Envelope>(`/workflows/${workflowId}/run/`, {
          body: { n: start.key },
          headers: { 'idempotency-key': start.key },
        }),
      );
      this.slowestMs = Math.max(this.slowestMs, answer.tookMs);
      start.statuses.push(answer.status);
      if (answer.body.data?.id !== undefined) start.runId = answer.body.data.id;
      else if (answer.status !== 503) this.complaints.push(`${answer.status}: ${JSON.stringify(answer.body)}`);
      else this.complaints.push(...wrongRefusal(answer));
      if (start.runId === undefined) await pause(PAUSE_MS);
    }
  }
}

async function timed<T>(call: () => Promise<ApiAnswer<T>>): Promise<ApiAnswer<T> & { tookMs: number }> {
  const startedAt = performance.now();
  const answer = await call();
  return { ...answer, tookMs: performance.now() - startedAt };
}

function wrongRefusal({ body, headers }: ApiAnswer<unknown>): string[] {
  const { code } = body as { code?: string };
  const isRight = code === 'unavailable' && Number(headers.get('retry-after')) > 0;
  return isRight ? [] : [`${JSON.stringify(body)}, Retry-After ${headers.get('retry-after')}`];
}

/** `reason`: why no small disk can be made here. */
function skipFor(reason: string | undefined, test: Mocha.Context): void {
  if (reason === undefined) return;
  process.stderr.write(`NOT RUN, for ${reason}\n`);
  test.skip();
}

describe('PostgreSQL without room or without an answer', function () {
  this.timeout(900_000);
  const noDisk = noSmallDisk();
  let postgres: OwnPostgres;
  let stack: StartedStack;
  let target: HttpTarget;
  let api: ApiClient;
  let project: number;
  let workflowId: number;
  let load: Load;

  before(async () => {
    const settings = { checkpoint_timeout: '1h', max_wal_size: '96MB' };
    postgres = await createOwnPostgres({ ...(noDisk === undefined && { diskMiB: DISK_MIB }), settings });
    await postgres.start();
    stack = await startStack({ env: { DATABASE_URL: postgres.url } });
    target = await startHttpTarget();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    project = await api.createProject();
    const start = trigger([{ id: 'n', title: 'N', type: 'text', input_requirements: true }]);
    const nodes = [
      start,
      http(`${target.url}/post/{{ input.n }}`, { method: 'POST', body: '{}' }),
      llm('{{ input.n }}'),
    ];
    linkInRow(nodes);
    workflowId = await api.createWorkflow(project, drawing(nodes));
  });
  after(async () => {
    await load?.stop();
    await stack?.stop();
    await target?.close();
    await postgres?.remove();
  });
  beforeEach(() => (load = new Load(api, workflowId)));
  afterEach(async () => {
    postgres.free();
    if (postgres.isRunning()) postgres.thaw();
    await load.stop();
  });

  /** Starts a run whose POST is answered when `release` is called. */
  async function startHeld(): Promise<{ runId: string; calls: () => number; release: () => void }> {
    const name = `/hold/${randomUUID()}`;
    const nodes = linkInRow([trigger(), http(target.url + name, { method: 'POST', body: '{}' }), llm('after')]);
    const { data } = await api.run(await api.createWorkflow(project, drawing(nodes)));
    await eventually(() => target.requestsTo(name).length > 0);
    return { runId: data.id, calls: () => target.requestsTo(name).length, release: () => target.release(name) };
  }

  const health = (name: 'healthz' | 'readyz'): Promise<Response> => fetch(`${stack.apiUrl}/${name}`);
  const untilRefused = (): Promise<unknown> =>
    eventually(() => load.starts.some(({ statuses }) => statuses.at(-1) === 503), { timeoutMs: 120_000 });
  const isRefused = async (call: () => Promise<ApiAnswer<unknown>>): Promise<boolean> => {
    const answer = await timed(call);
    assert.ok(answer.tookMs < ANSWER_WITHIN_MS, `answered after ${answer.tookMs} ms`);
    if (answer.status !== 503) return false;
    assert.deepEqual(wrongRefusal(answer), []);
    return true;
  };
  const post = (path: string, body: unknown) => () => api.post(path, { body });

  async function checkChangesAreRefused(): Promise<void> {
    await untilRefused();
    const changes = [
      post('/projects/', { name: 'refused' }),
      post(`/workflows/${workflowId}/run/`, { n: 'refused' }),
      post(`/workflows/${workflowId}/hooks/`, {}),
      () => api.patch(`/workflows/${workflowId}/`, { body: { title: 'refused' } }),
      () => api.delete(`/workflows/${workflowId}/`),
    ];
    // Retries, because PostgreSQL may free some of its own space and accept a few more changes.
    for (const change of changes) assert.ok(await eventually(() => isRefused(change)), String(change));
  }

  async function checkReadsAreAnswered(runId: string): Promise<void> {
    const paths = [
      ...READS,
      `/workflows/${workflowId}/`,
      `/workflows/${workflowId}/history/`,
      `/projects/${project}/`,
      `/workflows/workflow_result/?id=${runId}`,
    ];
    for (const path of paths) {
      const { status, body } = await api.get(path);
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
    }
    const { headers } = await api.get(`/workflows/workflow_result/?id=${runId}`);
    const unchanged = await api.get(`/workflows/workflow_result/?id=${runId}`, {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    });
    assert.ok([200, 304].includes(unchanged.status), String(unchanged.status));
    assert.equal((await health('readyz')).status, 200);
  }

  async function checkNothingIsAnswered(): Promise<void> {
    await untilRefused();
    for (const path of READS) assert.ok(await isRefused(() => api.get(path)), path);
    assert.ok(await isRefused(post('/projects/', { name: 'refused' })));
    const ready = await health('readyz');
    assert.deepEqual([ready.status, Number(ready.headers.get('retry-after')) > 0], [503, true]);
    assert.equal((await health('healthz')).status, 200);
  }

  /** Ends the load. Compares the accepted starts with the calls, the stored runs and the transactions. */
  async function checkBooks(): Promise<void> {
    await eventually(() => load.starts.every(({ statuses }) => statuses.length > 0 && statuses.at(-1) !== 503));
    await load.stop();
    assert.deepEqual(load.complaints, []);
    assert.ok(load.slowestMs < ANSWER_WITHIN_MS, `an answer took ${load.slowestMs} ms`);
    for (const { runId, key, statuses } of load.accepted) {
      const { data } = await api.pollToEnd(runId!, { timeoutMs: 180_000, intervalMs: 200 });
      const calls = target.requestsTo(`/post/${key}`).length;
      const codes = Object.values(data.data ?? {}).flatMap(({ error }) => error?.code ?? []);
      // The only allowed failure: the claim of the call was cut off, so its outcome is unknown, and it is not repeated.
      const isUnknown = data.status === 'failed' && codes.includes('outcome_unknown') && calls <= 1;
      assert.ok(
        (data.status === 'succeed' && calls === 1) || isUnknown,
        `${statuses.join(' ')}: ${data.status} ${codes.join(' ')} ${calls}`,
      );
    }
    const [books] = await query<{ runs: number; open: number; paid: number; wrong: number }>(
      `
      SELECT count(*)::integer AS runs, count(*) FILTER (WHERE status = 'In Progress')::integer AS open,
        count(*) FILTER (WHERE cost_usd > 0)::integer AS paid,
        count(*) FILTER (WHERE cost_usd IS DISTINCT FROM (
          SELECT coalesce(sum(amount_usd), 0) FROM billing_transactions WHERE run_id = runs.id))::integer AS wrong
      FROM runs WHERE id = ANY($1)`,
      [load.accepted.map(({ runId }) => runId)],
    );
    assert.equal(books!.runs, load.accepted.length, 'a run for each accepted start');
    assert.deepEqual([books!.open, books!.wrong], [0, 0]);
    const twice = await query(
      `SELECT run_id FROM billing_transactions GROUP BY run_id, path, node_id HAVING count(*) > 1`,
    );
    assert.deepEqual(twice, []);
    const [{ runs }] = (await query<{ runs: number }>(
      `SELECT count(*)::integer AS runs FROM runs WHERE workflow_id = $1 AND input->>'n' = 'refused'`,
      [workflowId],
    )) as [{ runs: number }];
    assert.equal(runs, 0, 'a refused start left a run');
  }

  async function query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return connected(async (client) => (await client.query(text, values)).rows as Row[]);
  }

  /** Executes the statements one after the other on one connection, each in its own transaction. */
  async function execute(...statements: string[]): Promise<void> {
    await connected(async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  }

  async function connected<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: postgres.url });
    // A server that ends itself breaks the connection.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  }

  const linesNow = (): number => stack.logs().split('\n').length;

  it('without room: changes are 503, reads and polls are answered, and what was under way is kept', async function () {
    skipFor(noDisk, this);
    const held = await startHeld();
    await eventually(() => load.accepted.length >= 5);
    postgres.fill();
    const full = setInterval(() => postgres.fill(), 500);
    await checkChangesAreRefused().finally(() => clearInterval(full));
    const [lines, startedAt] = [linesNow(), performance.now()];
    await checkReadsAreAnswered(held.runId);
    held.release();
    await pause(5_000);
    await checkReadsAreAnswered(held.runId);
    assert.doesNotMatch(stack.logs(), /"database":"no answer"/);
    const aSecond = (linesNow() - lines) / ((performance.now() - startedAt) / 1000);
    assert.ok(aSecond < MOST_LINES_A_SECOND, `${aSecond} lines a second`);
    postgres.free();
    const { data } = await api.pollToEnd(held.runId, { timeoutMs: 120_000, intervalMs: 200 });
    assert.deepEqual([data.status, held.calls()], ['succeed', 1]);
    await checkBooks();
  });

  it('without an answer, frozen: all are 503 within ten seconds, and everything goes on', async () => {
    const held = await startHeld();
    await eventually(() => load.accepted.length >= 5);
    postgres.freeze();
    await checkNothingIsAnswered();
    held.release();
    await pause(8_000);
    await checkNothingIsAnswered();
    postgres.thaw();
    const { data } = await api.pollToEnd(held.runId, { timeoutMs: 120_000, intervalMs: 200 }).catch(async (error) => {
      if (!/503/.test(String(error))) throw error;
      return eventually(() => api.pollToEnd(held.runId));
    });
    assert.deepEqual([data.status, held.calls()], ['succeed', 1]);
    await checkBooks();
  });

  it('without an answer, killed: all are 503 at once, and everything goes on when it has been started', async () => {
    const held = await startHeld();
    await eventually(() => load.accepted.length >= 5);
    await postgres.kill();
    await checkNothingIsAnswered();
    held.release();
    await pause(8_000);
    await postgres.start();
    const { data } = await eventually(() => api.pollToEnd(held.runId), { timeoutMs: 120_000 });
    assert.deepEqual([data.status, held.calls()], ['succeed', 1]);
    await checkBooks();
  });

  it('read-only, as managed servers make themselves before their disk is full: as without room', async () => {
    const held = await startHeld();
    await eventually(() => load.accepted.length >= 5);
    await execute('ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()');
    await checkChangesAreRefused();
    await checkReadsAreAnswered(held.runId);
    held.release();
    await pause(3_000);
    const reset = 'ALTER SYSTEM RESET default_transaction_read_only';
    await execute('SET default_transaction_read_only = off', reset, 'SELECT pg_reload_conf()');
    const { data } = await api.pollToEnd(held.runId, { timeoutMs: 120_000, intervalMs: 200 });
    assert.deepEqual([data.status, held.calls()], ['succeed', 1]);
    await checkBooks();
  });

  it('without room for its WAL, which ends the server: everything goes on once there is room and it is started', async function () {
    skipFor(noDisk, this);
    await eventually(() => load.accepted.length >= 5);
    postgres.fill('log');
    // Switches to a new WAL file, which the full disk has no space for.
    await eventually(async () => {
      if (postgres.isRunning()) await query('SELECT pg_switch_wal()').catch(() => undefined);
      return !postgres.isRunning();
    });
    await checkNothingIsAnswered();
    postgres.free();
    await postgres.start();
    await checkBooks();
  });
});
