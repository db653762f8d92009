import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { agent, drawing, linkInRow, llm, node, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startToolServer } from '../../../harness/target/tool-server.js';
import { createAccount, giveRole } from '../accounts.js';
import type { FieldErrors, Project } from '../bodies.js';
import { createHook, verify } from '../webhook-receiver.js';

interface Spending {
  spending_limit: Project['spending_limit'];
  spent_in_period: Record<string, string>;
  reserved: Record<string, string>;
  reserved_calls: number;
  stopped: { day: string; limited_by: string; source: string; calls: number; last_run_id: string | null }[];
}

/** The cost of one call of the fake provider: 10 input and 5 output tokens, at 1 and 2 USD a million. */
const CALL = '0.00002';

describe('limits of money', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    target = await startHttpTarget();
  });
  after(() => target.close());

  const patch = <T = Project>(id: number, body: object, by = api) => by.patch<T>(`/projects/${id}/`, { body });
  const read = async (id: number): Promise<Project> => (await api.get<Project>(`/projects/${id}/`)).body;
  const limited = async (amount: string, period = 'total'): Promise<number> => {
    const id = await api.createProject();
    assert.equal((await patch(id, { spending_limit: { amount, period } })).status, 200);
    return id;
  };
  const spendingOf = async (id: number): Promise<Spending> =>
    (await api.get<Spending>(`/projects/${id}/spending/`)).body;
  const modelOf = (answers: object = {}): string => {
    const model = `spending-${randomUUID()}`;
    stack.modelProvider.script(model, answers);
    return model;
  };
  const ask = (model: string, data: object = {}): DrawingNode =>
    llm('x', { settings: { model_name: model, max_tokens: 5 }, ...data });
  const run = async (project: number, nodes: DrawingNode[], others: DrawingNode[] = []) => {
    const id = await api.createWorkflow(project, drawing([...linkInRow([trigger(), ...nodes]), ...others]));
    return { id, ...(await runOf(id)) };
  };
  const runOf = async (id: number) => {
    const runId = (await api.run(id)).data.id;
    const { status, data: entries } = (await api.pollToEnd(runId)).data;
    return { runId, status, entries: entries ?? {} };
  };

  describe('of a project', () => {
    it('is read as it was set, without exponents or zeros at the end, and taken away with null', async () => {
      const id = await api.createProject();
      for (const [amount, shown] of [
        ['10.50', '10.5'],
        ['0', '0'],
        ['007', '7'],
        ['999999999999.999999999999999999', '999999999999.999999999999999999'],
      ] as const) {
        const { status, body } = await patch(id, { spending_limit: { amount, period: 'month' } });
        assert.deepEqual([status, body.spending_limit], [200, { amount: shown, period: 'month' }]);
      }
      assert.deepEqual((await patch(id, { name: 'another' })).body.spending_limit?.period, 'month');
      assert.equal((await patch(id, { spending_limit: null })).body.spending_limit, null);
      assert.equal((await read(id)).spending_limit, null);
    });

    for (const limit of [
      { amount: '-1', period: 'day' },
      { amount: '1e3', period: 'day' },
      { amount: '1000000000000', period: 'day' },
      { amount: '0.1234567890123456789', period: 'day' },
      { amount: 'NaN', period: 'day' },
      { amount: '', period: 'day' },
      { amount: ' 1', period: 'day' },
      { amount: '1,5', period: 'day' },
      { amount: '١', period: 'day' },
      { amount: 1, period: 'day' },
      { amount: '1', period: 'year' },
      { amount: '1' },
      { period: 'day' },
      '1',
      [],
    ]) {
      it(`${JSON.stringify(limit)} is a 400 and changes nothing`, async () => {
        const id = await limited('3', 'day');
        const { status, body } = await patch<FieldErrors>(id, { spending_limit: limit });
        assert.equal(status, 400);
        assert.ok(
          Object.keys(body).some((key) => key.startsWith('spending_limit')),
          JSON.stringify(body),
        );
        assert.deepEqual((await read(id)).spending_limit, { amount: '3', period: 'day' });
      });
    }

    it('is set by owner and admin, and read by every member', async () => {
      const id = await limited('3', 'day');
      for (const [role, expected] of [
        ['admin', 200],
        ['editor', 403],
        ['viewer', 403],
      ] as const) {
        const member = await createAccount(stack);
        await giveRole(stack, member, id, role);
        const { status } = await patch(id, { spending_limit: { amount: '4', period: 'day' } }, member.api);
        assert.equal(status, expected, role);
        const { body } = await member.api.get<Project>(`/projects/${id}/`);
        assert.deepEqual(body.spending_limit, { amount: '4', period: 'day' });
        assert.equal((await member.api.get(`/projects/${id}/spending/`)).status, 200);
      }
      const stranger = await createAccount(stack);
      assert.equal((await stranger.api.get(`/projects/${id}/spending/`)).status, 404);
    });

    it('stops the call that could pass it with budget_exceeded, which nothing catches; others go on when it is raised', async () => {
      const model = modelOf();
      const id = await limited('0.00007', 'day');
      const first = await run(id, [ask(model)]);
      assert.equal(first.status, 'succeed');
      const stopped = ask(model, { on_error: 'continue' });
      const second = await run(id, [stopped]);
      assert.equal(second.status, 'failed');
      const { code, message } = second.entries[stopped.id]!.error!;
      assert.equal(code, 'budget_exceeded');
      assert.match(message, /The project has spent 0\.00002 USD of its spending_limit of 0\.00007 USD on this day/);
      assert.equal(stack.modelProvider.requestsFor(model).length, 1);
      const { spent_in_period: spent, total_spent: total } = await read(id);
      assert.deepEqual([spent['USD'], total['USD']], [CALL, CALL]);
      const { stopped: stops, reserved, reserved_calls: calls, spending_limit: limit } = await spendingOf(id);
      assert.deepEqual([reserved['USD'], calls, limit], ['0', 0, { amount: '0.00007', period: 'day' }]);
      const [{ limited_by: by, source, calls: stoppedCalls, last_run_id: last }, ...more] = stops as [
        Spending['stopped'][0],
      ];
      assert.deepEqual([by, source, stoppedCalls, last, more], ['project', 'run', 1, second.runId, []]);
      await patch(id, { spending_limit: { amount: '1', period: 'day' } });
      assert.equal((await runOf(second.id)).status, 'succeed');
    });

    it('counts the runs of all its workflows and no other project`s, and what costs nothing goes on', async () => {
      const model = modelOf();
      const [id, other] = [await limited('0.00007'), await api.createProject()];
      assert.equal((await run(other, [ask(model)])).status, 'succeed');
      assert.equal((await run(id, [ask(model)])).status, 'succeed');
      assert.equal((await run(id, [ask(model)])).status, 'failed');
      assert.equal((await run(id, [node('set', { value: 'free' })])).status, 'succeed');
      assert.equal((await run(other, [ask(model)])).status, 'succeed');
    });

    it('of 0 stops the first call', async () => {
      const model = modelOf();
      assert.equal((await run(await limited('0'), [ask(model)])).status, 'failed');
      assert.equal(stack.modelProvider.requestsFor(model).length, 0);
    });

    it('stops the second call after an answer that is no JSON, and the first one is paid for', async () => {
      const model = modelOf({ text: 'no JSON' });
      const asked = ask(model);
      Object.assign(asked.data['settings'] as object, { response_format: { type: 'json_object' } });
      const id = await limited('0.00008');
      const { entries } = await run(id, [asked]);
      assert.equal(entries[asked.id]!.error!.code, 'budget_exceeded');
      assert.equal((await read(id)).total_spent['USD'], CALL);
      assert.equal((await spendingOf(id)).reserved['USD'], '0');
    });

    it('stops an agent between two turns, and its turns are paid for', async () => {
      const server = await startToolServer();
      try {
        const model = modelOf({ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] });
        const tools = [{ endpoint_url: server.url, require_approval: 'never' }];
        const work = agent('x', { model_name: model, max_tokens: 5 }, tools);
        const id = await limited('0.0004');
        const { entries } = await run(id, [work]);
        assert.equal(entries[work.id]!.error!.code, 'budget_exceeded', JSON.stringify(entries));
        const made = stack.modelProvider.requestsFor(model).length;
        assert.ok(made > 0 && made < 20, `${made} calls`);
        assert.equal((await read(id)).total_spent['USD'], (made * 0.00002).toFixed(5).replace(/0+$/, ''));
        assert.equal((await spendingOf(id)).reserved['USD'], '0');
      } finally {
        await server.close();
      }
    });

    it('tells the webhook once for a period and value that it is reached', async () => {
      const { projectId, path, secret } = await createHook(api, target);
      const events = () =>
        target
          .requestsTo(path)
          .map((request) => verify(request, secret))
          .filter(({ type }) => type === 'project.budget_reached');
      const model = modelOf();
      // The call alone exceeds the limit, so no event is sent.
      await patch(projectId, { spending_limit: { amount: '0.00002', period: 'month' } });
      const tooLarge = await run(projectId, [ask(model)]);
      assert.equal(tooLarge.status, 'failed');
      const [price] = /0\.\d+/.exec(Object.values(tooLarge.entries).find(({ error }) => error)!.error!.message)!;
      await patch(projectId, { spending_limit: { amount: price, period: 'month' } });
      assert.equal((await run(projectId, [ask(model)])).status, 'succeed');
      for (let repeat = 0; repeat < 2; repeat++) assert.equal((await run(projectId, [ask(model)])).status, 'failed');
      await eventually(() => events().length === 1);
      assert.deepEqual(events()[0]!.data, {
        project_id: projectId,
        spending_limit: { amount: price, period: 'month' },
      });
      await patch(projectId, { spending_limit: { amount: '0.0001', period: 'month' } });
      assert.equal((await run(projectId, [ask(model)])).status, 'succeed');
      // The new limit is below the amount already spent, so the change itself sends the event.
      await patch(projectId, { spending_limit: { amount: '0.00001', period: 'month' } });
      await eventually(() => events().length === 2);
      await patch(projectId, { spending_limit: { amount: '0.0001', period: 'month' } });
      await patch(projectId, { spending_limit: { amount: '0.00001', period: 'month' } });
      assert.equal((await run(projectId, [ask(model)])).status, 'failed');
      assert.equal(events().length, 2);
      const { body } = await api.get<{ items: { type: string; run_id: string | null }[] }>(
        `/projects/${projectId}/webhook-deliveries/?size=100`,
      );
      const told = body.items.filter(({ type }) => type === 'project.budget_reached');
      assert.deepEqual(
        told.map(({ run_id: runId }) => runId),
        [null, null],
      );
    });
  });
});
