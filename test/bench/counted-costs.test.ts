// Counts the costs of requests and nodes that do not depend on the machine; `npm run bench -- --only costs` measures
// their time. The limits are just above the present figures, so that each increase needs a reason.
// On a busy machine, background work adds up to 10 % to the bytes of WAL.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { chain, http } from '../../harness/drawing/drawing.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { eventually } from '../../harness/timing/eventually.js';
import { withEmptyDatabase } from '../db/migrated-database.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';

const REQUESTS = 20;
/** The cost of a node is the difference between two chains, because the start and the end of a run are not nodes. */
const [LONG, SHORT, RUNS] = [20, 5, 3];
/** Each figure is the lowest of some counts, because the service's background work adds to some of them. */
const TIMES = 3;
const MOST_WAL_BYTES_OF_NODE = 2_700;

describe('the counted costs of requests and nodes', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let projectId: number;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    target = await startHttpTarget();
    projectId = await api.createProject();
  });
  after(() => target.close());

  const workflowOf = (nodes: number): Promise<number> =>
    api.createWorkflow(
      projectId,
      chain(nodes, () => http(`${target.url}/counted`)),
    );

  describe('in statements to PostgreSQL', () => {
    let runId: string;
    let etag: string;

    before(async () => {
      const { data } = await api.run(await workflowOf(5));
      runId = data.id;
      await api.pollToEnd(runId);
      etag = (await api.get(pollOf(runId))).headers.get('etag')!;
      await setLogging("SET log_statement = 'all'", 'SET log_parameter_max_length = 0');
    });
    after(() => setLogging('RESET log_statement', 'RESET log_parameter_max_length'));

    const pollOf = (id: string): string => `/workflows/workflow_result/?id=${id}`;
    const setLogging = async (...settings: string[]): Promise<void> => {
      for (const setting of settings) await queryDatabase(stack, `ALTER SYSTEM ${setting}`);
      await queryDatabase(stack, 'SELECT pg_reload_conf()');
    };

    const cases: [title: string, most: number, send: () => Promise<{ status: number }>][] = [
      ['an almost empty request', 1, () => api.get('/models/')],
      ['a GET of a project', 4, () => api.get(`/projects/${projectId}/`)],
      ['a poll', 2, () => api.get(pollOf(runId))],
      ['an unchanged poll', 2, () => api.get(pollOf(runId), { headers: { 'if-none-match': etag } })],
    ];
    for (const [title, most, send] of cases) {
      it(`${title} sends at most ${most} statement${most === 1 ? '' : 's'}`, async () => {
        const sent = await statementsOf(stack, send);
        assert.ok(sent.length <= most, sent.join('\n'));
      });
    }
  });

  it(`a node writes at most ${MOST_WAL_BYTES_OF_NODE} bytes of WAL`, async () => {
    const [long, short] = [await workflowOf(LONG), await workflowOf(SHORT)];
    await withEmptyDatabase(async (_url, aside) => {
      await queryDatabase(aside, 'CREATE EXTENSION pg_walinspect');
      const bytesOf = async (workflowId: number): Promise<number> => {
        const from = await insertedUpTo(stack);
        const started = await Promise.all(Array.from({ length: RUNS }, () => api.run(workflowId)));
        await ended(started.map(({ data }) => data.id));
        return walBytes(aside, from, await insertedUpTo(stack));
      };
      const figures: { long: number; short: number }[] = [];
      for (let time = 0; time < TIMES; time++) figures.push({ long: await bytesOf(long), short: await bytesOf(short) });
      const lowest = (of: 'long' | 'short'): number => Math.min(...figures.map((figure) => figure[of]));
      const bytes = (lowest('long') - lowest('short')) / (RUNS * (LONG - SHORT));
      assert.ok(bytes <= MOST_WAL_BYTES_OF_NODE, `${bytes} bytes ${JSON.stringify(figures)}`);
    });
  });

  /** Reads the database, because polls would add writes: the service counts the requests to its API there. */
  async function ended(runIds: string[]): Promise<void> {
    const open = 'SELECT FROM runs WHERE id = ANY($1::uuid[]) AND run_finished_at IS NULL';
    await eventually(async () => (await queryDatabase(stack, open, [runIds])).length === 0, { timeoutMs: 60_000 });
  }
});

/** Returns the statements that `send` causes, from the log of PostgreSQL, without those of background loops. */
async function statementsOf(stack: TestStack, send: () => Promise<{ status: number }>): Promise<string[]> {
  const file = path.join(stack.dataDir, 'logs', 'postgres.log');
  const entriesSince = (size: number): string[] =>
    readFileSync(file)
      .subarray(size)
      .toString()
      .split(/^\S+ \S+ \S+ \[\d+\] /m)
      .flatMap((entry) => /^LOG: {2}(?:statement|execute [^:]+): (?<text>[^]+)/.exec(entry)?.groups?.['text'] ?? []);
  // Retries, because each process of the database reloads its settings at its own time, and each connection first
  // prepares statements that are new to it.
  await eventually(async () => {
    const { length } = readFileSync(file);
    for (let request = 0; request < 5; request++) assert.ok((await send()).status < 400);
    return entriesSince(length).length >= 5;
  });
  const { length } = readFileSync(file);
  for (let request = 0; request < REQUESTS; request++) await send();
  await eventually(() => entriesSince(length).length >= REQUESTS);
  const counts = new Map<string, number>();
  for (const text of entriesSince(length)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].flatMap(([text, count]) => Array.from({ length: Math.round(count / REQUESTS) }, () => text));
}

async function insertedUpTo(stack: TestStack): Promise<string> {
  const [row] = await queryDatabase<{ lsn: string }>(stack, 'SELECT pg_current_wal_insert_lsn() AS lsn');
  return row!.lsn;
}

/** Returns the bytes of WAL without full-page images, whose number depends on the time of the checkpoints. */
async function walBytes(aside: TestStack, from: string, to: string): Promise<number> {
  const flushed = 'SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn AS is_flushed';
  await eventually(async () => (await queryDatabase<{ is_flushed: boolean }>(aside, flushed, [to]))[0]!.is_flushed);
  const text = 'SELECT sum(record_size)::bigint AS bytes FROM pg_get_wal_stats($1::pg_lsn, $2::pg_lsn)';
  return Number((await queryDatabase<{ bytes: string }>(aside, text, [from, to]))[0]!.bytes);
}
