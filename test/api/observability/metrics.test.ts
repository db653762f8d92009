import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { createDatabaseMetrics } from '../../../api/observability/database-metrics.js';
import { createMetrics } from '../../../api/observability/metrics.js';
import { createWorkerMetrics, registerWorkerLoad } from '../../../activities/worker/worker-metrics.js';
import { createLogger } from '../../../telemetry/logger.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, drawing, http, link, llm, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';

const FIGURES = [
  'runs_open',
  'runs_unstarted_oldest_age_seconds',
  'runs_stuck',
  'approvals_pending',
  'webhook_backlog',
  'webhook_backlog_oldest_age_seconds',
  'webhook_due_oldest_seconds',
  'billed_usd_total',
  'retention_backlog_runs',
];

const noPools = (): Promise<[]> => Promise.resolve([]);

describe('metrics', function () {
  this.timeout(120_000);
  let stack: TestStack;
  const logger = createLogger('test', 'silent');

  before(async () => {
    stack = await sharedStack();
  });

  const scrape = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();
  const valueOf = (text: string, name: string): number =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const openDatabase = (url: string): Database =>
    createDatabase({ url, poolMax: 2, applicationName: 'metrics-test', onError: () => undefined });

  it('of the API include figures of the database: open runs, approvals, webhooks, money, runs to expire', async () => {
    const { api } = await createAccount(stack);
    const { runId } = await api.runToEnd(chain(2, () => llm('hello')));
    const text = await eventually(async () => {
      const scraped = await scrape(stack.apiUrl);
      return FIGURES.every((name) => Number.isFinite(valueOf(scraped, name))) && scraped;
    });
    const sum = 'SELECT sum(total_spent_usd)::float8 AS usd FROM projects';
    const [{ usd }] = (await queryDatabase<{ usd: number }>(stack, sum)) as [{ usd: number }];
    assert.ok(usd > 0 && valueOf(text, 'billed_usd_total') <= usd, runId);
    assert.ok(valueOf(text, 'retention_last_success_timestamp_seconds') > 0);
    assert.ok(valueOf(text, 'reconciler_last_success_timestamp_seconds') > 0);
  });

  it('read the database once, however many scrape at once or soon after', async () => {
    const db = openDatabase(stack.stack.database_url);
    const statements: string[] = [];
    const counting = db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: ({ result }) => {
        if (result.rows.some((row) => 'openRuns' in row)) statements.push('read');
        return Promise.resolve(result);
      },
    });
    try {
      const refresh = createDatabaseMetrics(new Registry(), {
        db: counting,
        logger,
        resultRetentionDays: 30,
        readPools: noPools,
      });
      await Promise.all(Array.from({ length: 50 }, refresh));
      await refresh();
      assert.equal(statements.length, 1);
    } finally {
      await db.destroy();
    }
  });

  it('neither hang nor show old figures while the database does not answer', async () => {
    const registry = new Registry();
    const db = openDatabase(stack.stack.database_url);
    try {
      const refresh = createDatabaseMetrics(registry, { db, logger, resultRetentionDays: 30, readPools: noPools });
      // Both connections are in use until the test releases them.
      let free = (): void => undefined;
      const freed = new Promise<void>((resolve) => {
        free = resolve;
      });
      const taken = [0, 1].map(() => db.connection().execute(() => freed));
      // The refreshes end although no connection is free.
      await Promise.all(Array.from({ length: 20 }, refresh));
      assert.doesNotMatch(await registry.metrics(), /^runs_open /m);
      free();
      await Promise.all(taken);
      await eventually(async () => {
        await refresh();
        return /^runs_open \d/m.test(await registry.metrics());
      });
    } finally {
      await db.destroy();
    }
  });

  it('without a database the API still has the metrics of its own process', async () => {
    const cut = await startApiProcess(stack, { DATABASE_URL: 'postgres://user:hidden@127.0.0.1:1/none' });
    try {
      const text = await scrape(cut.apiUrl);
      assert.match(text, /^process_cpu_seconds_total /m);
      for (const name of FIGURES) assert.ok(Number.isNaN(valueOf(text, name)), name);
    } finally {
      assert.equal(await cut.stop(), 0);
    }
  });

  it('of the worker tell nodes by kind and outcome, tries, model calls, money and slots', async () => {
    const { api } = await createAccount(stack);
    const [start, broken, model] = [trigger(), http('http://127.0.0.1:1/'), llm('hello')];
    link(start, model);
    link(model, broken);
    await api.runToEnd(drawing([start, model, broken]), {}, { timeoutMs: 40_000 });
    const port = /"port":(\d+),[^\n]*"worker started"/.exec(stack.logs())?.[1];
    const text = await scrape(`http://127.0.0.1:${port}`);
    for (const line of [
      'nodes_total\\{kind="trigger",outcome="succeed"\\}',
      'nodes_total\\{kind="llm",outcome="succeed"\\}',
      'nodes_total\\{kind="http",outcome="network_error"\\}',
      'node_attempt_duration_seconds_count\\{kind="http",outcome="retried"\\}',
      'node_attempt_duration_seconds_count\\{kind="llm",outcome="ended"\\}',
      'model_call_duration_seconds_count\\{provider="fake",status="200"\\}',
      'node_cost_usd_total\\{kind="llm"\\}',
      'worker_activity_slots',
      'worker_project_slots',
    ]) {
      assert.ok(valueOf(text, line) > 0, `${line}: ${text}`);
    }
    for (const name of ['worker_activities_in_flight', 'worker_cached_workflows']) {
      assert.ok(valueOf(text, name) >= 0, name);
    }
  });

  it('are all in the operations manual', async () => {
    const manual = readFileSync(new URL('../../../docs/operate/operations.md', import.meta.url), 'utf8');
    const worker = createWorkerMetrics().registry;
    const load = { numInFlightNonLocalActivities: 0, numInFlightLocalActivities: 0, numInFlightWorkflowActivations: 0 };
    const project = { waitingActivities: 0, largestShare: 0 };
    registerWorkerLoad(worker, { activitySlots: 1, projectSlots: 1 }, () => ({
      ...load,
      ...project,
      numCachedWorkflows: 0,
    }));
    const own = [...createMetrics().registry.getMetricsAsArray(), ...worker.getMetricsAsArray()]
      .map(({ name }) => name)
      .filter((name) => !/^(process|nodejs)_/.test(name));
    assert.ok(own.length > 15);
    for (const name of [...own, ...FIGURES]) assert.ok(manual.includes(`\`${name}`), `${name} is not described`);
  });
});
