import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { agent, chain, drawing, linkInRow, llm, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { endedDaysAgo, openRetention } from '../../support/retention-round.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startToolServer } from '../../../harness/target/tool-server.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import type { FieldErrors, Project } from '../bodies.js';

interface Usage {
  key: string;
  label: string;
  runs: number;
  calls: number;
  estimated_calls: number;
  input_tokens: number;
  output_tokens: number;
  amount: Record<string, string>;
}

/** The usage of every call of the fake provider: 10 input and 5 output tokens. */
const CALL = { calls: 1, estimated_calls: 0, input_tokens: 10, output_tokens: 5 };
const NO_CALL = { calls: 0, estimated_calls: 0, input_tokens: 0, output_tokens: 0 };

describe('usage', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let projects: number[];
  let workflows: number[];
  let model: string;
  let runs: string[];

  /** Creates a run in each of two projects, on two days: one with two model calls, and one with a single call. */
  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    api = account.api;
    model = `usage-${randomUUID()}`;
    stack.modelProvider.script(model, [{}]);
    const scripted = llm('x', { settings: { model_name: model } });
    projects = [await api.createProject('first'), await api.createProject('second')];
    workflows = [
      await api.createWorkflow(projects[0]!, drawing(linkInRow([trigger(), llm('a'), scripted])), 'Two calls'),
      await api.createWorkflow(projects[1]!, drawing(linkInRow([trigger(), llm('b')])), 'One call'),
    ];
    runs = [];
    for (const id of workflows) runs.push((await api.run(id)).data.id);
    for (const [index, run] of runs.entries()) {
      assert.equal((await api.pollToEnd(run)).data.status, 'succeed');
      const text = 'UPDATE billing_transactions SET created_at = $1 WHERE run_id = $2';
      await queryDatabase(stack, text, [['2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00Z'][index], run]);
    }
  });

  const FEBRUARY_AND_MARCH = 'from=2026-02-01&to=2026-03-31';
  const usage = async (query: string, by = api): Promise<Usage[]> => {
    const { status, body } = await by.get<Usage[]>(`/usage/?${query}`);
    assert.equal(status, 200, query);
    return body;
  };
  const sumOf = (rows: Usage[]): number =>
    Number(rows.reduce((sum, { amount }) => sum + Number(amount['USD']), 0).toFixed(9));
  const withoutAmount = (rows: Usage[]): Omit<Usage, 'amount'>[] =>
    rows.map((row) => {
      const { amount, ...rest } = row;
      assert.match(amount['USD'] ?? '', /^\d+(\.\d+)?$/);
      return rest;
    });

  it('by day, in the order of the days, of UTC', async () => {
    const rows = await usage(`group_by=day&${FEBRUARY_AND_MARCH}`);
    assert.deepEqual(withoutAmount(rows), [
      { key: '2026-02-28', label: '2026-02-28', runs: 1, ...CALL, calls: 2, input_tokens: 20, output_tokens: 10 },
      { key: '2026-03-01', label: '2026-03-01', runs: 1, ...CALL },
    ]);
    assert.deepEqual(await usage(FEBRUARY_AND_MARCH), rows, 'which is also what is answered unless asked');
    assert.deepEqual(Object.keys(rows[0]!.amount), ['USD', 'EUR']);
  });

  it('by project, workflow, model and kind of node, the most expensive first', async () => {
    const two = { runs: 1, ...CALL, calls: 2, input_tokens: 20, output_tokens: 10 };
    const byProject = await usage(`group_by=project&${FEBRUARY_AND_MARCH}`);
    assert.deepEqual(withoutAmount(byProject), [
      { key: String(projects[0]), label: 'first', ...two },
      { key: String(projects[1]), label: 'second', runs: 1, ...CALL },
    ]);
    const byWorkflow = await usage(`group_by=workflow&${FEBRUARY_AND_MARCH}`);
    assert.deepEqual(withoutAmount(byWorkflow), [
      { key: String(workflows[0]), label: 'Two calls', ...two },
      { key: String(workflows[1]), label: 'One call', runs: 1, ...CALL },
    ]);
    const byModel = await usage(`group_by=model&${FEBRUARY_AND_MARCH}`);
    const models = withoutAmount(byModel).toSorted((left, right) => (left.key < right.key ? -1 : 1));
    assert.deepEqual(models, [
      { key: '', label: 'No model', runs: 2, ...NO_CALL },
      { key: 'test-model', label: 'test-model', ...two, runs: 2 },
      { key: model, label: model, runs: 1, ...CALL },
    ]);
    const byKind = await usage(`group_by=node_kind&${FEBRUARY_AND_MARCH}`);
    assert.deepEqual(
      byKind.map(({ key, runs: count, calls }) => [key, count, calls]),
      [
        ['llm', 2, 3],
        ['trigger', 2, 0],
      ],
    );
    assert.notEqual(byKind[0]!.label, '');
    for (const rows of [byProject, byWorkflow, byModel, byKind]) {
      const amounts = rows.map(({ amount }) => Number(amount['USD']));
      assert.deepEqual(
        amounts,
        amounts.toSorted((left, right) => right - left),
      );
    }
  });

  it('calls of tools are no model calls', async () => {
    const tools = await startToolServer();
    try {
      const name = `usage-${randomUUID()}`;
      const calls = [{ name: 'note', arguments: { text: 'x' } }];
      stack.modelProvider.script(name, [{ toolCalls: calls }, { text: 'done' }]);
      const helper = agent('Work', { model_name: name }, [{ endpoint_url: tools.url, require_approval: 'never' }]);
      const { api: own } = await createAccount(stack);
      assert.equal((await own.runToEnd(drawing(linkInRow([trigger(), helper])))).status, 'succeed');
      assert.equal(tools.callsOf('note').length, 1);
      assert.deepEqual(
        (await usage('group_by=model', own)).map((row) => [row.key, row.calls, row.runs]),
        [
          [name, 2, 1],
          ['', 0, 1],
        ],
      );
    } finally {
      await tools.close();
    }
  });

  it('whatever it is grouped by, it adds up to what the projects have spent', async () => {
    const spent = await Promise.all(
      projects.map(async (id) => Number((await api.get<Project>(`/projects/${id}/`)).body.total_spent['USD'])),
    );
    const total = Number((spent[0]! + spent[1]!).toFixed(9));
    assert.ok(total > 0);
    for (const group of ['day', 'project', 'workflow', 'model', 'node_kind']) {
      assert.equal(sumOf(await usage(`group_by=${group}&${FEBRUARY_AND_MARCH}`)), total, group);
    }
  });

  it('from and to are included; without from it is the last 30 days', async () => {
    assert.equal((await usage('from=2026-02-28&to=2026-02-28')).length, 1);
    assert.equal((await usage('from=2026-02-28&to=2026-03-01')).length, 2);
    assert.deepEqual(await usage('from=2026-03-02&to=2026-03-31'), []);
    assert.equal((await usage('to=2026-03-29')).length, 2, 'the 28th of February is the first of 30 days');
    assert.equal((await usage('to=2026-03-30')).length, 1);
    const { api: own } = await createAccount(stack);
    await own.runToEnd(chain(1));
    const today = new Date().toISOString().slice(0, 10);
    assert.ok((await usage('', own)).length > 0);
    assert.equal((await usage(`to=${today}`, own)).length, (await usage('', own)).length);
  });

  it('is kept for archived workflows, and for runs whose results have expired', async () => {
    const { api: own } = await createAccount(stack);
    const { workflowId, runId, projectId } = await own.runToEnd(drawing(linkInRow([trigger(), llm('a')])));
    const before = await usage(`group_by=workflow&project=${projectId}`, own);
    assert.deepEqual([before.length, before[0]?.calls], [1, 1]);
    await own.delete(`/workflows/${workflowId}/`);
    const retention = openRetention(stack);
    try {
      await endedDaysAgo(stack, 31, runId);
      await retention.round();
    } finally {
      await retention.close();
    }
    assert.deepEqual(await usage(`group_by=workflow&project=${projectId}`, own), before);
    const byModel = await usage('group_by=model', own);
    assert.deepEqual(byModel.map(({ key }) => key).toSorted(), ['', 'test-model']);
  });

  it('every member sees it, and nobody else', async () => {
    const viewer = await createAccount(stack);
    await giveRole(stack, viewer, projects[0]!, 'viewer');
    const rows = await usage(`group_by=project&${FEBRUARY_AND_MARCH}`, viewer.api);
    assert.deepEqual(
      rows.map(({ key }) => key),
      [String(projects[0])],
    );
    assert.deepEqual(await usage(`project=${projects[1]}&${FEBRUARY_AND_MARCH}`, viewer.api), []);
    assert.equal((await usage(`project=${projects[1]}&${FEBRUARY_AND_MARCH}`)).length, 1);
  });

  it('400 names the value that is wrong', async () => {
    const cases: [query: string, field: string][] = [
      ['group_by=user', 'group_by'],
      ['from=2026-02-30', 'from'],
      ['from=2026-02-01T00:00:00Z', 'from'],
      ['to=tomorrow', 'to'],
      ['from=2026-03-02&to=2026-03-01', 'from'],
      ['from=2024-01-01&to=2026-01-01', 'from'],
      ['from=9999-12-31', 'from'],
      ['project=x', 'project'],
    ];
    for (const [query, field] of cases) {
      const { status, body } = await api.get<FieldErrors>(`/usage/?${query}`);
      assert.deepEqual([status, Object.keys(body)], [400, [field]], query);
    }
    assert.deepEqual(await usage('from=2024-01-01&to=2024-12-31'), [], '366 days are possible');
    assert.deepEqual(await usage('to=9999-12-31'), []);
  });
});
