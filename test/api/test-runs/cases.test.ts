// Cases: inputs and mocks of a workflow, with the expectations of its run (docs/use/test-runs.md, "Cases").
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Decimal } from 'decimal.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import {
  drawing,
  http,
  linkInRow,
  llm,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { openResumeWorld, type ResumeWorld } from '../runs/resume/resume-world.js';

interface CaseView {
  id: number;
  name: string;
  input: Record<string, unknown>;
  mocks: Record<string, unknown>;
  expect: Record<string, unknown>[];
}

interface CaseRunView {
  id: string;
  status: string;
  passed: number;
  failed: number;
  cost: Record<string, string>;
  cases: {
    case_id: number;
    run_id: string | null;
    status: string;
    failures: { expectation: unknown; actual: unknown }[];
    error?: { code: string };
  }[];
}

describe('cases', function () {
  this.timeout(120_000);
  let world: ResumeWorld;
  let api: ApiClient;
  let calls: string;
  let post: DrawingNode;
  let output: DrawingNode;
  let data: object;
  let workflowId: number;

  before(async () => {
    world = await openResumeWorld();
    ({ api } = world);
  });
  after(() => world.close());

  beforeEach(async () => {
    calls = `/${randomUUID()}`;
    post = http(`${world.target.url}${calls}`, { method: 'POST', body: '{"asked":"{{ input.word }}"}' });
    output = node('output', { value: resultOf(post) });
    const fields = [
      { id: 'word', type: 'text' },
      { id: 'token', type: 'text', is_secret: true },
    ];
    data = drawing(linkInRow([trigger(fields), post, output]));
    workflowId = await world.workflowOf(data);
  });

  async function make(body: object): Promise<CaseView> {
    const answer = await api.post<CaseView>(`/workflows/${workflowId}/cases/`, { body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }

  async function runCases(body: object = {}): Promise<CaseRunView> {
    const begun = await api.post<{ id: string }>(`/workflows/${workflowId}/cases/run/`, { body });
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    return ended(begun.body.id);
  }

  const read = async (id: string): Promise<CaseRunView> =>
    (await api.get<CaseRunView>(`/workflows/${workflowId}/case-runs/${id}/`)).body;

  async function ended(id: string): Promise<CaseRunView> {
    await eventually(async () => (await read(id)).status !== 'in progress');
    return read(id);
  }

  it('pass or fail by what is expected, and say what came instead', async () => {
    const mocks = { [post.id]: { content: 'mocked' } };
    const right = await make({
      name: 'right',
      input: { word: 'a' },
      mocks,
      expect: [{ output: true, path: '', operator: '==', right: 'mocked' }],
    });
    const expectation = { node: post.id, path: 'result.content', operator: '==', right: 'other' };
    const wrong = await make({ name: 'wrong', mocks, expect: [expectation] });
    const { status, passed, failed, cases } = await runCases();
    assert.deepEqual([status, passed, failed], ['failed', 1, 1]);
    assert.deepEqual(
      cases.map(({ case_id: id, status: each, failures }) => [id, each, failures]),
      [
        [right.id, 'passed', []],
        [wrong.id, 'failed', [{ expectation, actual: 'mocked' }]],
      ],
    );
    assert.equal(world.callsTo(calls), 0, 'nobody was called');
    const run = await api.history(workflowId, cases[0]!.run_id!);
    assert.equal(run['purpose'], 'test');
    const alone = await runCases({ case_ids: [right.id] });
    assert.deepEqual([alone.status, alone.cases.length], ['passed', 1]);
  });

  it('are made of a run, whose side effects are mocked', async () => {
    world.target.on(calls, [{ body: 'once' }]);
    const { data: started } = await api.run(workflowId, { word: 'x', token: 'very-secret-token' });
    await api.pollToEnd(started.id);
    const made = await api.post<CaseView>(`/workflows/${workflowId}/cases/from-run/`, {
      body: { run_id: started.id, name: 'of a run' },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.deepEqual(made.body.input, { word: 'x', token: '********' });
    assert.deepEqual(Object.keys(made.body.mocks), [post.id]);
    const result = await runCases();
    assert.deepEqual([result.status, world.callsTo(calls)], ['passed', 1], JSON.stringify(result.cases));
    const changed = drawing(linkInRow([trigger(), post, { ...output, data: { ...output.data, value: 'another' } }]));
    assert.equal((await runCases({ drawing: changed })).status, 'failed');
  });

  it('mask what was secret when their input was set, even if the drawing has no secret later', async () => {
    const secret = 'very-secret-token';
    const input = { word: `with ${secret}`, token: secret };
    world.target.on(calls, [{ body: 'once' }]);
    const { data: started } = await api.run(workflowId, input);
    await api.pollToEnd(started.id);
    const own = await make({ name: 'own', input, mocks: { [post.id]: { content: 'mocked' } } });
    const shown = { word: 'with ********', token: '********' };
    assert.deepEqual(own.input, shown);
    const echo = { ...output, data: { ...output.data, value: '{{ input.word }} {{ input.token }}' } };
    await api.patch(`/workflows/${workflowId}/`, { body: { data: drawing(linkInRow([trigger(), post, echo])) } });
    const made = await api.post<CaseView>(`/workflows/${workflowId}/cases/from-run/`, {
      body: { run_id: started.id, name: 'of a run' },
    });
    assert.deepEqual([made.status, made.body.input], [201, shown]);
    const place = `/workflows/${workflowId}/cases/${own.id}/`;
    const changed = await api.patch<CaseView>(place, { body: { input: { ...own.input, more: 'x' } } });
    assert.deepEqual(changed.body.input, { ...shown, more: 'x' });
    assert.deepEqual((await api.get<CaseView>(place)).body.input, { ...shown, more: 'x' });
    const result = await runCases({ case_ids: [own.id] });
    const { runs, text } = await readRuns(result);
    assert.equal(runs, 1);
    assert.match(text, /with \*{8} \*{8}/);
    assert.ok(!text.includes(secret), text);
  });

  /** Reads the histories of the runs, as members see them. */
  async function readRuns({ cases }: CaseRunView): Promise<{ runs: number; text: string }> {
    const runs = cases.flatMap(({ run_id: id }) => id ?? []);
    const histories = [];
    for (const id of runs) histories.push(await api.history(workflowId, id));
    return { runs: runs.length, text: JSON.stringify(histories) };
  }

  it('end as errors if a mock is wrong, or if a node would wait for a person', async () => {
    const asks = node('human', { message: 'Well?' });
    const other = await world.workflowOf(drawing(linkInRow([trigger(), asks])));
    workflowId = other;
    await make({ name: 'waits' });
    await make({ name: 'unknown node', mocks: { nobody: { content: '' } } });
    await make({ name: 'no iteration', mocks: { [`${asks.id}@${'l'.repeat(1_598)}[0]`]: { content: 'done' } } });
    await make({ name: 'answered', mocks: { [asks.id]: { action: 'done', values: {} } } });
    const { cases, failed } = await runCases();
    assert.equal(failed, 3);
    assert.deepEqual(
      cases.map(({ status, error }) => [status, error?.code]),
      [
        ['error', 'mock_missing'],
        ['error', 'invalid'],
        ['error', 'invalid'],
        ['passed', undefined],
      ],
    );
  });

  it('expect a failure by its code', async () => {
    const mocks = { [post.id]: { error: { code: 'http_status', message: 'No.' } } };
    await make({
      name: 'fails',
      mocks,
      expect: [{ node: post.id, path: 'error.code', operator: '==', right: 'http_status' }],
    });
    await make({ name: 'fails too', mocks });
    const { cases } = await runCases();
    assert.deepEqual(
      cases.map(({ status }) => status),
      ['passed', 'failed'],
    );
  });

  it('fail if the failure that they expect was handled, and another one has failed the run', async () => {
    const fails = { error: { code: 'http_status', message: 'No.' } };
    const [caught, last] = [http(world.target.url, { on_error: 'continue' }), http(world.target.url)];
    workflowId = await world.workflowOf(drawing(linkInRow([trigger(), caught, last])));
    const expect = [{ node: caught.id, path: 'error.code', operator: '==', right: 'http_status' }];
    await make({ name: 'both fail', mocks: { [caught.id]: fails, [last.id]: fails }, expect });
    await make({ name: 'one is handled', mocks: { [caught.id]: fails, [last.id]: { content: 'mocked' } }, expect });
    const { cases } = await runCases();
    assert.deepEqual(
      cases.map(({ status, failures }) => [status, failures]),
      [
        ['failed', []],
        ['passed', []],
      ],
    );
  });

  describe('that pay for calls', () => {
    const MAX_TOKENS = 7;
    let model: string;

    /** Each call costs 0.1 USD, and much less is reserved for it. */
    beforeEach(async () => {
      model = `model-${randomUUID()}`;
      world.stack.modelProvider.script(model, {
        usage: { prompt_tokens: 100_000, completion_tokens: 0, total_tokens: 100_000 },
      });
      const asks = llm('hello', { settings: { model_name: model, max_tokens: MAX_TOKENS } });
      workflowId = await world.workflowOf(drawing(linkInRow([trigger(), asks])));
    });

    const requests = () => world.stack.modelProvider.requestsFor(model);

    it('cost the exact sum', async () => {
      for (const name of ['one', 'two', 'three']) await make({ name });
      const { status, cost } = await runCases();
      assert.deepEqual([status, cost['USD']], ['passed', '0.3']);
    });

    it('make no call that could pass their limit, however many begin at once', async () => {
      for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) await make({ name });
      const once = await runCases({ case_ids: [(await make({ name: 'measured' })).id] });
      assert.equal(once.status, 'passed');
      const [measured] = requests();
      const reserved = new Decimal(Math.ceil(measured!.counted.length / 3)).plus(2 * MAX_TOKENS).div(1_000_000);
      // The limit covers one reservation, but not two.
      const { status, cost, passed, cases } = await runCases({ max_cost: reserved.times(1.5).toFixed() });
      assert.deepEqual([status, passed, cost['USD']], ['failed', 1, '0.1']);
      assert.equal(requests().length, 2);
      const others = cases.filter((each) => each.status !== 'passed');
      assert.deepEqual(new Set(others.map(({ error }) => error?.code)), new Set(['budget_exceeded']));
      assert.ok(
        others.some((each) => each.run_id === null),
        'once the limit is reached, no further case begins',
      );
    });

    it('count the cost of child runs', async () => {
      const child = workflowId;
      const twice = [1, 2].map(() => node('workflow', { workflow_id: child, input: {} }));
      workflowId = await world.workflowOf(drawing(linkInRow([trigger(), ...twice])));
      await make({ name: 'one' });
      const { cost, cases } = await runCases({ max_cost: '0.1' });
      assert.deepEqual([requests().length, cost['USD']], [1, '0.1']);
      assert.deepEqual([cases[0]!.status, cases[0]!.error?.code], ['failed', 'child_failed']);
    });
  });

  it('stop when they are cancelled', async () => {
    const waits = http(`${world.target.url}/delay/30000/${randomUUID()}`);
    workflowId = await world.workflowOf(drawing(linkInRow([trigger(), waits])));
    for (let index = 0; index < 6; index += 1) await make({ name: `case ${index}` });
    const begun = await api.post<{ id: string }>(`/workflows/${workflowId}/cases/run/`, { body: {} });
    await api.post(`/workflows/${workflowId}/case-runs/${begun.body.id}/cancel/`);
    const { status, cases } = await ended(begun.body.id);
    assert.equal(status, 'failed');
    assert.deepEqual(new Set(cases.map((each) => each.status)), new Set(['error']));
  });

  it('must pass before a publication, where they are required', async () => {
    const { data: started } = await api.run(workflowId, { word: 'x' });
    await api.pollToEnd(started.id);
    await api.post(`/workflows/${workflowId}/history/${started.id}/toggle-marketplace-use/`, {
      body: { use_as_marketplace_template: true },
    });
    await api.patch(`/workflows/${workflowId}/`, {
      body: { market_title: 'Cases', short_description: 'With cases', available_languages: ['en'] },
    });
    const mocks = { [post.id]: { content: 'mocked' } };
    const wrong = { output: true, path: '', operator: '==', right: 'other' };
    const made = await make({ name: 'gate', mocks, expect: [wrong], required: true });
    const publish = () => api.post<{ code?: string }>(`/workflows/${workflowId}/publish-on-marketplace/`);
    const refused = await publish();
    assert.deepEqual([refused.status, refused.body.code], [409, 'cases_failed']);
    await api.patch(`/workflows/${workflowId}/cases/${made.id}/`, {
      body: { expect: [{ ...wrong, right: 'mocked' }] },
    });
    assert.equal((await publish()).status, 200);
  });

  it('send credentials of an action only to the server that the drawing has stored', async () => {
    const [stored, other] = [`/stored-${randomUUID()}`, `/other-${randomUUID()}`];
    const secret = `key-${randomUUID()}`;
    const parameter = { name: 'X-Api-Key', in: 'header', schema: { type: 'string', format: 'password' } };
    const openapi = {
      openapi: '3.0.3',
      info: { title: 'Things', version: '1' },
      paths: { '/things': { get: { operationId: 'listThings', parameters: [parameter], responses: {} } } },
    };
    const services = `/projects/${world.project}/services/`;
    const body = (at: string) => ({ openapi, server_url: `${world.target.url}${at}` });
    const made = await api.post<{ id: string }>(services, { body: body(stored) });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const action = { service: made.body.id, id: 'listThings' };
    const asks = node('http', { action, values: { 'X-Api-Key': secret } });
    workflowId = await world.workflowOf(drawing(linkInRow([trigger(), asks])));
    const shown = (await api.get<{ data: object; version: number }>(`/workflows/${workflowId}/`)).body;
    const replaced = await api.put(`${services}${made.body.id}/`, { body: body(other) });
    assert.equal(replaced.status, 200, JSON.stringify(replaced.body));
    await make({ name: 'calls', required: true });
    const sent = () => world.target.requestsTo(`${stored}/things`).map(({ headers }) => headers['x-api-key']);
    await runCases();
    assert.deepEqual(sent(), [secret], 'the stored drawing');
    await runCases({ drawing: shown.data });
    assert.deepEqual(sent(), [secret, secret], 'the same drawing, sent back');
    await api.post(`/workflows/${workflowId}/publish-on-marketplace/`);
    assert.deepEqual(sent(), [secret, secret, secret], 'before a publication');
    assert.equal(world.callsTo(`${other}/things`), 0);

    // The present drawing has the facts that the service has now; the version has its own.
    const renewed = node('http', { action, values: { 'X-Api-Key': 'another' } });
    const saved = await api.patch(`/workflows/${workflowId}/`, {
      body: { data: drawing(linkInRow([trigger(), renewed])) },
    });
    assert.equal(saved.status, 200, JSON.stringify(saved.body));
    await runCases({ version: shown.version });
    assert.deepEqual(sent(), [secret, secret, secret, secret], 'an earlier version');
    assert.equal(world.callsTo(`${other}/things`), 0);
  });

  it('are not made of a run whose results are larger than a case may be', async () => {
    const large = '/bytes/300000';
    const posts = Array.from({ length: 4 }, () => http(`${world.target.url}${large}`, { method: 'POST', body: '{}' }));
    const run = await world.runToEnd(drawing(linkInRow([trigger(), ...posts])));
    const refused = await api.post<Record<string, unknown>>(`/workflows/${run.workflowId}/cases/from-run/`, {
      body: { run_id: run.runId, name: 'large' },
    });
    assert.deepEqual([refused.status, refused.body['code']], [413, 'too_large'], JSON.stringify(refused.body));
  });

  it('refuse a file that the project does not have', async () => {
    workflowId = await world.workflowOf(drawing(linkInRow([trigger([{ id: 'bill', type: 'file' }]), output])));
    const refused = await api.post(`/workflows/${workflowId}/cases/`, {
      body: { name: 'unknown file', input: { bill: randomUUID() } },
    });
    const sentence = 'bill: The project has no such file';
    assert.deepEqual([refused.status, refused.body], [400, { input: [sentence] }]);
    const made = await make({ name: 'without' });
    const place = `/workflows/${workflowId}/cases/${made.id}/`;
    const changed = await api.patch(place, { body: { input: { bill: randomUUID() } } });
    assert.deepEqual([changed.status, changed.body], [400, { input: [sentence] }]);
  });

  it('stop at 100, however many are made at once', async () => {
    for (let made = 0; made < 95; made += 1) await make({ name: `case ${made}` });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        api.post<{ code?: string }>(`/workflows/${workflowId}/cases/`, { body: { name: 'at once' } }),
      ),
    );
    const codes = answers.map(({ status, body: { code } }) => `${status} ${code}`).toSorted();
    assert.deepEqual(codes, [
      ...Array.from({ length: 5 }, () => '201 undefined'),
      ...Array.from({ length: 7 }, () => '400 too_many_cases'),
    ]);
  });

  describe('beside others', () => {
    const others: string[] = [];
    /** Stores directly in the database a case run that is older than all others. */
    async function insertOlder(runId: string | null): Promise<void> {
      const id = randomUUID();
      others.push(id);
      await queryDatabase(
        world.stack,
        `INSERT INTO case_runs (id, workflow_id, user_id, drawing_enc, created_at)
         SELECT $1, id, author_id, '', now() - interval '1 hour' FROM workflows WHERE id = $2`,
        [id, workflowId],
      );
      await queryDatabase(
        world.stack,
        `INSERT INTO case_results (case_run_id, case_id, run_id, detail_enc) VALUES ($1, 1, $2, '')`,
        [id, runId],
      );
    }
    const expect = [{ output: true, path: '', operator: '==', right: 'mocked' }];
    const quick = () => make({ name: 'quick', mocks: { [post.id]: { content: 'mocked' } }, expect });

    afterEach(async () => {
      for (const id of others.splice(0)) {
        await queryDatabase(world.stack, 'DELETE FROM case_results WHERE case_run_id = $1', [id]);
        await queryDatabase(world.stack, 'DELETE FROM case_runs WHERE id = $1', [id]);
      }
    });

    it('end although an older one makes no progress', async () => {
      await insertOlder(null);
      await quick();
      assert.equal((await runCases()).status, 'passed');
    });

    it('end although twenty older ones take long', async () => {
      const slow = await world.workflowOf(
        drawing(linkInRow([trigger(), http(`${world.target.url}/delay/60000/${randomUUID()}`)])),
      );
      const { data: started } = await api.run(slow);
      for (let index = 0; index < 20; index += 1) await insertOlder(started.id);
      await quick();
      assert.equal((await runCases()).status, 'passed');
      await api.post(`/workflows/${slow}/history/${started.id}/cancel/`);
    });
  });

  it('block no request with a large drawing while a publication waits for them', async () => {
    const held = randomUUID();
    const asks = http(`${world.target.url}/hold/${held}`, { method: 'POST', body: 'x'.repeat(600 * 1024) });
    workflowId = await world.workflowOf(drawing(linkInRow([trigger(), asks])));
    await make({ name: 'slow', required: true });
    const publishing = api.post<{ code?: string }>(`/workflows/${workflowId}/publish-on-marketplace/`);
    await eventually(() => world.callsTo(`/hold/${held}`) > 0);
    assert.equal((await api.get(`/workflows/${workflowId}/`)).status, 200);
    world.target.release(`/hold/${held}`);
    assert.equal((await publishing).status, 400, 'what the marketplace shows is missing');
  });

  it('are a 400 if they are invalid', async () => {
    const send = (body: object) => api.post<Record<string, unknown>>(`/workflows/${workflowId}/cases/`, { body });
    for (const body of [
      {},
      { name: '' },
      { name: 'x', expect: [{ path: '', operator: '==', right: 'a' }] },
      { name: 'x', expect: [{ node: post.id, output: true, path: '', operator: '==', right: 'a' }] },
      { name: 'x', expect: [{ output: true, path: '', operator: 'like', right: 'a' }] },
      { name: 'x', expect: [{ output: true, path: '', operator: 'matches', right: '(' }] },
      { name: 'x', expect: [{ output: true, path: '', operator: 'matches', right: '({{ input.a }}' }] },
    ]) {
      assert.equal((await send(body)).status, 400, JSON.stringify(body));
    }
    const both = await api.post(`/workflows/${workflowId}/cases/run/`, { body: { version: 1, drawing: data } });
    assert.equal(both.status, 400);
    const none = await runCases();
    assert.deepEqual([none.status, none.passed], ['passed', 0]);
  });
});
