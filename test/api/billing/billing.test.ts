import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Decimal } from 'decimal.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { startFakeModelProvider, type FakeModelProvider } from '../../../harness/target/fake-model-provider.js';
import { chain, drawing, http, link, llm, trigger, type Drawing } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { startStack, type TestStack } from '../../../harness/stack/stack.js';
import { makeDataDir } from '../../../harness/stack/supervisor.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { NOT_FOUND, type FieldErrors, type Page, type Project } from '../bodies.js';

interface Transaction {
  id: string;
  operation: string;
  status: string;
  amount: Record<string, string>;
  reason: string;
  description: string;
  run_id: string;
  path: string;
  user_id: number;
  created_at: string;
  updated_at: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PLAIN_DECIMAL = /^(0|[1-9]\d*)(\.\d*[1-9])?$/;
/** The longest accepted prices. A double cannot hold them, so any use of doubles would change the amounts. */
const PRICES = {
  input_price_per_million: '0.123456789012345678',
  output_price_per_million: '98765.432109876543210987',
};
const RATES = { USD: '1', EUR: '0.923456789123', JPY: '157.31' };
const Exact = Decimal.clone({ precision: 1000 });

const sumOf = (amounts: Record<string, string>[]): Record<string, string> =>
  Object.fromEntries(
    Object.keys(RATES).map((code) => [
      code,
      amounts.reduce((sum, amount) => sum.plus(amount[code] ?? 'NaN'), new Exact(0)).toFixed(),
    ]),
  );

/** Draws a node that calls a model of its own, so that the answers of this model can be scripted. */
const paid = (model: string, label = 'paid') => llm('x', { label, settings: { model_name: model } });

describe('billing history', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let provider: FakeModelProvider;
  let target: HttpTarget;
  let account: Account;
  let api: ApiClient;

  before(async () => {
    provider = await startFakeModelProvider();
    target = await startHttpTarget();
    const dataDir = makeDataDir();
    const files = { providers: path.join(dataDir, 'providers.json'), rates: path.join(dataDir, 'rates.json') };
    const models = [{ id: '*', ...PRICES }];
    writeFileSync(files.providers, JSON.stringify({ providers: [{ name: 'fake', base_url: provider.url, models }] }));
    writeFileSync(files.rates, JSON.stringify(RATES));
    stack = await startStack({
      dataDir,
      env: { MODEL_PROVIDERS_FILE: files.providers, CURRENCIES_FILE: files.rates },
    });
    account = await createAccount(stack);
    ({ api } = account);
  });
  after(async () => {
    await Promise.all([provider.close(), target.close(), stack?.stop()]);
  });

  const list = async (runId: string, query = '', client = api): Promise<Page<Transaction>> => {
    const { status, body } = await client.get<Page<Transaction>>(`/billing-history/workflowrun/${runId}/${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const spentIn = async (project: number): Promise<Record<string, string>> =>
    (await api.get<Project>(`/projects/${project}/`)).body.total_spent;
  /**
   * Runs the drawing twice in one project. Each time, the transactions, the cost of the run and the growth of
   * total_spent must be equal.
   */
  const expectSums = async (
    data: Drawing,
    end: (run: string, workflow: number) => Promise<void>,
  ): Promise<Page<Transaction>> => {
    const project = await api.createProject();
    const workflow = await api.createWorkflow(project, data);
    let page: Page<Transaction> | undefined;
    for (let count = 0; count < 2; count += 1) {
      const before = await spentIn(project);
      const run = (await api.run(workflow)).data.id;
      await end(run, workflow);
      page = await list(run, '?size=100');
      const sum = sumOf(page.items.map(({ amount }) => amount));
      assert.deepEqual((await api.history(workflow, run)).cost, sum);
      assert.deepEqual(sumOf([before, sum]), await spentIn(project));
      for (const text of Object.values(sum)) assert.match(text, PLAIN_DECIMAL);
    }
    return page!;
  };

  describe('200', () => {
    it('there is one item with every field of the specification for each executed node', async () => {
      const start = trigger([], { label: 'The start' });
      const [call, model] = [http(`${target.url}/echo`, { label: 'A call' }), paid('fields', 'A model')];
      link(start, [call, model]);
      const { runId } = await api.runToEnd(drawing([start, call, model]));
      const { items, ...page } = await list(runId);
      assert.deepEqual(page, { page: 1, size: 10, total: 3 });
      assert.deepEqual(items.map(({ operation, description }) => `${operation}: ${description}`).toSorted(), [
        'http: A call',
        'llm: A model',
        'trigger: The start',
      ]);
      for (const item of items) {
        assert.match(item.id, UUID);
        for (const time of [item.created_at, item.updated_at]) assert.equal(new Date(time).toISOString(), time);
        const { operation, description, id, amount, created_at: createdAt, updated_at: updatedAt } = item;
        const rest = {
          status: 'Succeeded',
          is_estimated: false,
          reason: '',
          run_id: runId,
          path: '',
          user_id: account.userId,
        };
        assert.deepEqual(item, {
          id,
          operation,
          description,
          amount,
          created_at: createdAt,
          updated_at: updatedAt,
          ...rest,
        });
        assert.deepEqual(Object.keys(amount), Object.keys(RATES));
        if (operation !== 'llm') assert.deepEqual(amount, { USD: '0', EUR: '0', JPY: '0' });
      }
    });

    it('amounts are exact in every currency', async () => {
      const usage = { prompt_tokens: 1_234_567, completion_tokens: 7, total_tokens: 1_234_574 };
      provider.script('exact', { usage });
      const start = trigger();
      const model = paid('exact');
      link(start, model);
      const { runId } = await api.runToEnd(drawing([start, model]));
      const bill = (await list(runId)).items.find(({ operation }) => operation === 'llm');
      const usd = new Exact(PRICES.input_price_per_million)
        .times(usage.prompt_tokens)
        .plus(new Exact(PRICES.output_price_per_million).times(usage.completion_tokens))
        .div(1_000_000);
      const expected = Object.entries(RATES).map(([code, rate]) => [code, usd.times(rate).toFixed()]);
      assert.deepEqual(bill?.amount, Object.fromEntries(expected));
      assert.match(bill?.amount['USD'] ?? '', /\.\d{24}$/, 'no digit was rounded away');
    });

    it('transactions, run cost and growth of total_spent are equal for a run that succeeded', async () => {
      const start = trigger();
      const models = Array.from({ length: 5 }, (_, index) => {
        provider.script(`sum-${index}`, {
          usage: { prompt_tokens: 7 ** index + index, completion_tokens: 3 ** index, total_tokens: 0 },
        });
        return paid(`sum-${index}`);
      });
      link(start, models);
      const page = await expectSums(drawing([start, ...models]), async (run) => {
        assert.equal((await api.pollToEnd(run)).data.status, 'succeed');
      });
      assert.equal(page.items.filter(({ amount }) => amount['USD'] !== '0').length, 5);
    });

    it('they are equal for a run that failed: earlier nodes are paid, the failed node is an Error of 0', async () => {
      const start = trigger();
      const [model, broken] = [paid('before-failure'), http(`${target.url}/status/404`, { label: 'broken' })];
      link(start, model);
      link(model, broken);
      const page = await expectSums(drawing([start, model, broken]), async (run) => {
        assert.equal((await api.pollToEnd(run)).data.status, 'failed');
      });
      const failed = page.items.find(({ description }) => description === 'broken');
      assert.deepEqual([failed?.status, failed?.amount['USD']], ['Error', '0']);
      assert.notEqual(page.items.find(({ operation }) => operation === 'llm')?.amount['USD'], '0');
    });

    it('they are equal for a cancelled run: a node in progress is an Error, unreached nodes have no row', async () => {
      const start = trigger();
      const mark = randomUUID();
      const [model, slow, never] = [paid('before-cancel'), http(`${target.url}/delay/20000/${mark}`), paid('never')];
      link(start, model);
      link(model, slow);
      link(slow, never);
      let calls = 0;
      const page = await expectSums(drawing([start, model, slow, never]), async (run, workflow) => {
        calls += 1;
        await eventually(() => target.requestsTo(`/delay/20000/${mark}`).length === calls);
        await api.post(`/workflows/${workflow}/history/${run}/cancel/`);
        await api.pollToEnd(run);
        assert.equal((await api.history(workflow, run)).status, 'Cancelled');
      });
      assert.deepEqual(
        page.items.map(({ operation, status }) => [operation, status]),
        [
          ['trigger', 'Succeeded'],
          ['llm', 'Succeeded'],
          ['http', 'Error'],
        ],
      );
    });

    it('a draft costs nothing and has no transactions', async () => {
      const workflow = await api.createWorkflow(
        await api.createProject(),
        chain(2, () => llm('')),
      );
      const draft = (await api.run(workflow)).data.id;
      assert.deepEqual(await list(draft), { page: 1, size: 10, total: 0, items: [] });
    });

    it('pages are in the order of execution, complete and without overlap; a page past the end is empty', async () => {
      const { runId } = await api.runToEnd(chain(7));
      const whole = await list(runId, '?size=100');
      assert.deepEqual([whole.size, whole.total, whole.items.length], [100, 7, 7]);
      assert.equal(whole.items[0]?.operation, 'trigger');
      const paged = [];
      for (const page of [1, 2, 3]) paged.push(...(await list(runId, `?page=${page}&size=3`)).items);
      assert.deepEqual(paged, whole.items);
      assert.deepEqual((await list(runId, '?page=4&size=3')).items, []);
      assert.deepEqual((await list(runId, '?page=99999999999999999999')).items, []);
      assert.deepEqual((await list(runId, '?page_size=2')).items, whole.items.slice(0, 2));
      assert.equal((await list(runId, '?size=3&page_size=2')).items.length, 3);
    });

    it('every member can read it, even after the workflow was deleted', async () => {
      const { projectId, workflowId, runId } = await api.runToEnd(chain(1));
      const viewer = await createAccount(stack);
      await giveRole(stack, viewer, projectId, 'viewer');
      await api.delete(`/workflows/${workflowId}/`);
      assert.equal((await list(runId, '', viewer.api)).total, 1);
    });
  });

  describe('400', () => {
    const least = 'Ensure this value is greater than or equal to 1.';
    const most = 'Ensure this value is less than or equal to 100.';
    const number = 'A valid integer is required.';
    const refused: [query: string, errors: FieldErrors][] = [
      ['page=0', { page: [least] }],
      ['page=-1', { page: [least] }],
      ['page=one', { page: [number] }],
      ['page=1.5', { page: [number] }],
      ['size=0', { size: [least] }],
      ['size=-1', { size: [least] }],
      ['size=101', { size: [most] }],
      ['size=99999999999999999999', { size: [most] }],
      ['size=all', { size: [number] }],
      ['page_size=101', { page_size: [most] }],
      ['page=0&size=0', { page: [least], size: [least] }],
    ];
    let runId: string;
    before(async () => {
      ({ runId } = await api.runToEnd(chain(1)));
    });
    for (const [query, errors] of refused) {
      it(`"${query}" is refused`, async () => {
        const { status, body } = await api.get<FieldErrors>(`/billing-history/workflowrun/${runId}/?${query}`);
        assert.deepEqual([status, body], [400, errors]);
      });
    }
  });

  describe('401 and 404', () => {
    it('unknown runs, invalid ids, users who are no members and deleted projects get a 404', async () => {
      const { projectId, runId } = await api.runToEnd(chain(1));
      const stranger = await createAccount(stack);
      const url = `/billing-history/workflowrun/${runId}/`;
      const answers = [
        await api.get(`/billing-history/workflowrun/${randomUUID()}/`),
        await api.get('/billing-history/workflowrun/x/'),
        await stranger.api.get(url),
      ];
      await api.delete(`/projects/${projectId}/`);
      answers.push(await api.get(url));
      for (const { status, body } of answers) assert.deepEqual([status, body], [404, NOT_FOUND]);
      const anonymous = await fetch(`${stack.apiUrl}/api/v1${url}`);
      assert.equal(anonymous.status, 401);
    });
  });
});
