import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { findTemporalBinary } from '../../cli/embedded/temporal-binary.js';
import { createAccount, sessionOf } from '../api/accounts.js';
import { inTemporal, makeSchedule } from '../api/schedules/schedule-maker.js';
import { createHook, deliveriesOf } from '../api/webhook-receiver.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startFakeMcpServer, type FakeMcpServer } from '../support/fake-mcp-server.js';
import { agent, chain, http, llm, type Drawing } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { queryDatabase } from '../support/inspect.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { readExposition, readQuery } from './metric-queries.js';
import { readQuestions } from './operators-manual.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The parameters of a question, and the expected text in each of its answers. */
interface Asked {
  about: Partial<Record<'RUN' | 'PROJECT' | 'WORKFLOW' | 'USER' | 'REQUEST', string>>;
  answer: RegExp;
  /** Runs just before the question is asked. */
  first?: () => Promise<void>;
}

describe('the operators’ questions', function () {
  this.timeout(180_000);
  const blocks = readQuestions();
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let servers: FakeMcpServer;
  let asked: Record<string, Asked>;
  let cli: string;

  before(async () => {
    [target, servers] = await Promise.all([startHttpTarget(), startFakeMcpServer()]);
    // Failed deliveries are retried only after the test has ended.
    stack = await startStack({ env: { WEBHOOK_RETRY_SCHEDULE: '600' } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    const report = (): void => undefined;
    cli = await findTemporalBinary({
      configured: process.env['TEMPORAL_CLI'],
      env: process.env,
      report,
      signal: new AbortController().signal,
    });
    asked = await prepare();
  });
  after(async () => {
    await stack.stop();
    await Promise.all([target.close(), servers.close()]);
  });

  async function prepare(): Promise<Record<string, Asked>> {
    const hook = await createHook(api, target, [{ status: 500 }]);
    const PROJECT = String(hook.projectId);
    const begin = async (data: Drawing): Promise<{ RUN: string; WORKFLOW: string }> => {
      const workflow = await api.createWorkflow(hook.projectId, data);
      return { RUN: (await api.run(workflow)).data.id, WORKFLOW: String(workflow) };
    };
    const paid = await begin(chain(2, () => llm('hello')));
    target.on('/orders', [{ status: 404, body: 'no such order' }]);
    const failed = await begin(chain(2, () => http(`${target.url}/orders`, { method: 'POST', body: {} })));
    const slow = await begin(chain(2, () => http(`${target.url}/delay/290000`, { settings: { timeout: 300 } })));
    const server = { endpoint_url: servers.endpoint().url };
    stack.modelProvider.script('asks', () => ({ toolCalls: [{ name: 'echo', arguments: {} }] }));
    const waiting = await begin(chain(2, () => agent('go', { model_name: 'asks' }, [server])));
    const [stuck, last] = [await begin(slowChain()), await begin(slowChain())];
    await Promise.all([api.pollToEnd(paid.RUN), api.pollToEnd(failed.RUN)]);
    const approvals = `/workflows/workflow_run/${waiting.RUN}/agent-approval/`;
    await eventually(async () => (await api.get<unknown[]>(approvals)).body.length === 1);
    for (const { RUN } of [slow, stuck, last]) {
      await eventually(async () => Object.keys((await api.poll(RUN)).data.data ?? {}).length === 2);
    }
    await eventually(async () => (await deliveriesOf(api, hook.projectId)).some(({ attempts }) => attempts === 1));
    // Marks the run as the reconciler does for a run that no worker can continue;
    // test/api/background/reconciler.test.ts has the detection.
    const mark = "UPDATE runs SET stuck_since = now(), next_check_at = now() + interval '1 hour' WHERE id = $1";
    await queryDatabase(stack, mark, [stuck.RUN]);
    const { headers } = await api.get('/projects/', { headers: { 'x-request-id': 'asked-by-a-client' } });
    assert.equal(headers.get('x-request-id'), 'asked-by-a-client');
    const schedule = await makeSchedule(api, Number(paid.WORKFLOW));
    await inTemporal(stack, schedule.id, (handle) => handle.trigger());
    const USER = String(stack.stack.user_id);
    const session = await sessionOf(stack, await createAccount(stack));
    return {
      'Which runs are stuck?': {
        about: { RUN: stuck.RUN },
        answer: new RegExp(`${stuck.RUN}|WorkflowExecutionStarted`),
      },
      'Which runs take long, and wait for nobody?': { about: {}, answer: new RegExp(slow.RUN) },
      'Why did this run fail?': { about: { RUN: failed.RUN }, answer: /no such order|"state":"applied"|http_status/ },
      'Which runs fail, and of what?': {
        about: { ...failed, PROJECT },
        answer: new RegExp(`${failed.RUN}|http_status|Total: 1`),
      },
      'Who waits for approval?': { about: { PROJECT }, answer: new RegExp(`${waiting.RUN}|"role":"owner"`) },
      'What does this cost?': { about: { RUN: paid.RUN, PROJECT }, answer: /0\.0000\d/ },
      'Which runs does project X have in flight?': {
        about: { PROJECT },
        answer: new RegExp(`${slow.RUN}[^]*${waiting.RUN}|${waiting.RUN}[^]*${slow.RUN}`),
      },
      'What did worker W do?': { about: { RUN: failed.RUN }, answer: /\d+@|node failed/ },
      'What is slow?': { about: failed, answer: /"kind":"http"/ },
      'Which node kills its workers?': {
        about: {},
        answer: /"shares":"?1\.000/,
        async first() {
          const lost = `INSERT INTO node_attempts (run_id, path, node_id, number, started_at, finished_at, error_code, worker)
            SELECT run_id, path, node_id, 1, now(), now(), 'worker_lost', gen_random_uuid() FROM node_results
            WHERE run_id = $1 LIMIT 1`;
          await queryDatabase(stack, lost, [slow.RUN]);
        },
      },
      'Which webhooks are failing?': { about: {}, answer: /"response_status":500/ },
      'Is the backlog growing?': { about: {}, answer: /activity|Total: [4-9]/ },
      'Who calls too much?': {
        about: { USER },
        answer: /"requests":\d\d|"rate_limit": ?6000/,
        // Only requests of the current minute are counted.
        async first() {
          for (let request = 0; request < 20; request += 1) await session.get('/me/');
        },
      },
      'What became of this request?': {
        about: { REQUEST: 'asked-by-a-client' },
        answer: /"route":"\/api\/v1\/projects\/"/,
      },
      'What do the schedules of a workflow do?': {
        about: { WORKFLOW: paid.WORKFLOW },
        answer: new RegExp(`"last_run_id":"[0-9a-f-]{36}"|schedule-${schedule.id}`),
      },
      'How is a run ended from here?': { about: { RUN: last.RUN }, answer: /cancel/i },
    };
  }

  function slowChain(): Drawing {
    return chain(2, () => http(`${target.url}/delay/290000`, { settings: { timeout: 300 } }));
  }

  async function execute(language: string, command: string): Promise<string> {
    if (language === 'sql') return JSON.stringify(await queryDatabase(stack, command));
    const { temporal_address: TEMPORAL_ADDRESS, temporal_namespace: TEMPORAL_NAMESPACE } = stack.stack;
    const PATH = `${path.dirname(cli)}:${process.env['PATH']}`;
    const env = { PATH, HOME: process.env['HOME'], DATA_DIR: stack.dataDir, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE };
    return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command], { cwd: ROOT, env })).stdout;
  }

  it('are each answered by every command that the manual gives for them', async () => {
    assert.deepEqual(Object.keys(asked), [...new Set(blocks.map(({ question }) => question))]);
    for (const { question, language, commands } of blocks) {
      if (language === 'promql') continue;
      const { about, answer, first } = asked[question]!;
      await first?.();
      for (const command of commands) {
        const filled = command.replaceAll(/\b(?:RUN|PROJECT|WORKFLOW|USER|REQUEST)\b/g, (word) => {
          const value = about[word as keyof typeof about];
          assert.ok(value, `${question}: ${word}`);
          return value;
        });
        // Temporal lists new executions with a delay.
        const look = async (): Promise<true> => {
          const told = await execute(language, filled);
          assert.match(told, answer, `${question}\n${filled}\n${told}`);
          return true;
        };
        await eventually(look, { intervalMs: 250 });
      }
    }
  });

  it('are answered in PromQL by metrics that are there', async () => {
    const port = /"port":(\d+),[^\n]*"worker started"/.exec(stack.logs())?.[1];
    const urls = [`${stack.apiUrl}/metrics`, `http://127.0.0.1:${port}/metrics`];
    const { series } = readExposition(...(await Promise.all(urls.map(async (url) => (await fetch(url)).text()))));
    const queries = blocks.filter(({ language }) => language === 'promql').flatMap(({ commands }) => commands);
    assert.ok(queries.length > 10);
    for (const query of queries) {
      const { metrics, labels } = readQuery(query);
      const known = new Set(metrics.flatMap((metric) => series.get(metric) ?? []).flatMap(Object.keys));
      for (const metric of metrics) assert.ok(series.has(metric), `${query}: there is no ${metric}`);
      for (const label of labels) assert.ok(known.has(label) || label === 'instance', `${query}: there is no ${label}`);
    }
  });

  it('cancel the run where a command is to end one', async () => {
    const { RUN } = asked['How is a run ended from here?']!.about;
    await eventually(async () => (await api.poll(RUN!)).data.status === 'failed');
    const text = 'SELECT status FROM runs WHERE id = $1';
    assert.deepEqual(await queryDatabase(stack, text, [RUN]), [{ status: 'Cancelled' }]);
  });
});
