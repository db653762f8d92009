import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient, RunRecord } from '../../../harness/client/api-client.js';
import { chain, drawing, http, link, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { NOT_FOUND, type FieldErrors, type Page } from '../bodies.js';

const CONTENTS = ['result', 'data', 'input_data', 'input_fields', 'answer_nodes', 'temporal_url'];

describe('runs of all workflows', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  /** Two projects, the first with two workflows and the second with one. `runs` are in the order of their start. */
  let projects: number[];
  let workflows: number[];
  let runs: string[];

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    api = account.api;
    projects = [await api.createProject('one'), await api.createProject('two')];
    workflows = [
      await api.createWorkflow(projects[0]!, chain(1), '100%_sure'),
      await api.createWorkflow(projects[0]!, chain(1), 'Weekly report'),
      await api.createWorkflow(projects[1]!, chain(1), 'WEEKLY REPORT 2'),
    ];
    runs = [];
    for (const index of [0, 1, 2, 0, 1]) runs.push((await api.run(workflows[index]!, { topic: 'cats' })).data.id);
    for (const run of runs) await api.pollToEnd(run);
    for (const [index, run] of runs.entries()) {
      const set = 'UPDATE runs SET cost_usd = $1, created_at = $2, status = $3 WHERE id = $4';
      const time = `2026-03-0${index + 1}T12:00:00.000Z`;
      await queryDatabase(stack, set, [[3, 1, 2, 1, 0][index], time, index === 2 ? 'Error' : 'Succeeded', run]);
    }
  });

  const list = async (query = ''): Promise<Page<RunRecord>> => {
    const { status, body } = await api.get<Page<RunRecord>>(`/runs/${query}`);
    assert.equal(status, 200, query);
    return body;
  };
  const found = async (query: string): Promise<number[]> => (await list(query)).items.map(({ id }) => runs.indexOf(id));

  it('an item is that of history without its contents, and says where it belongs', async () => {
    const { page, size, total, items } = await list();
    assert.deepEqual([page, size, total, items.length], [1, 10, 5, 5]);
    const item = await api.history(workflows[1]!, runs[4]!);
    const light = Object.fromEntries(Object.entries(item).filter(([key]) => !CONTENTS.includes(key)));
    const workflow = { id: workflows[1], title: 'Weekly report' };
    assert.deepEqual(items[0], { ...light, workflow, project: { id: projects[0], name: 'one' } });
  });

  it('filters by project, workflow, status, title and the time of acceptance', async () => {
    const cases: [query: string, indices: number[]][] = [
      [`?project=${projects[0]}`, [4, 3, 1, 0]],
      [`?workflow=${workflows[0]}`, [3, 0]],
      [`?project=${projects[1]}&workflow=${workflows[0]}`, []],
      ['?status=Error', [2]],
      ['?status=In%20Progress', []],
      ['?search=weekly', [4, 2, 1]],
      ['?search=%25', [3, 0]],
      ['?search=0%25_s', [3, 0]],
      ['?search=%5C', []],
      ['?search=_', [3, 0]],
      ['?search=', [4, 3, 2, 1, 0]],
      ['?started_after=2026-03-03', [4, 3, 2]],
      ['?started_before=2026-03-03', [2, 1, 0]],
      ['?started_after=2026-03-02T12:00:00Z&started_before=2026-03-04T12:00:00Z', [2, 1]],
      ['?started_after=2026-03-02T14:00:00.001%2B02:00', [4, 3, 2]],
      ['?started_after=2026-03-04&started_before=2026-03-02', []],
      [`?search=weekly&status=Succeeded&project=${projects[0]}&started_after=2026-03-05`, [4]],
      ['?ordering=created_at', [0, 1, 2, 3, 4]],
      ['?unknown=1', [4, 3, 2, 1, 0]],
    ];
    for (const [query, indices] of cases) {
      assert.deepEqual(await found(query), indices, query);
      assert.equal((await list(query)).total, indices.length, query);
    }
  });

  it('is ordered by time or cost, ties by id, and pages neither overlap nor leave anything out', async () => {
    const byCost = (await list('?ordering=cost')).items.map((item) => item.cost['USD']);
    assert.deepEqual(byCost, ['0', '1', '1', '2', '3']);
    assert.deepEqual(await found('?ordering=-cost'), (await found('?ordering=cost')).toReversed());
    for (const ordering of ['cost', '-cost', 'created_at', '-created_at']) {
      for (const filter of ['', '&status=Succeeded']) {
        const whole = await found(`?ordering=${ordering}${filter}`);
        const pages = [];
        for (const page of [1, 2, 3])
          pages.push(...(await found(`?ordering=${ordering}${filter}&page=${page}&size=2`)));
        assert.deepEqual(pages, whole, ordering + filter);
      }
    }
    assert.deepEqual((await list('?page=1000000000000&size=100')).items, []);
  });

  it('400 names the value that is wrong', async () => {
    const cases: [query: string, field: string][] = [
      ['?status=succeed', 'status'],
      ['?ordering=title', 'ordering'],
      ['?ordering=--cost', 'ordering'],
      ['?project=x', 'project'],
      ['?workflow=-1', 'workflow'],
      ['?started_after=yesterday', 'started_after'],
      ['?started_after=2026-02-30', 'started_after'],
      ['?started_before=2026-03-01T12:00:00', 'started_before'],
      ['?started_before=0000-01-01T00:00:00Z', 'started_before'],
      ['?search=%00', 'search'],
      ['?size=0', 'size'],
      ['?page=0', 'page'],
    ];
    for (const [query, field] of cases) {
      const { status, body } = await api.get<FieldErrors>(`/runs/${query}`);
      assert.deepEqual([status, Object.keys(body)], [400, [field]], query);
    }
  });

  it('shows what the caller may see and nothing else', async () => {
    const stranger = await createAccount(stack);
    assert.equal((await stranger.api.get<Page<RunRecord>>('/runs/')).body.total, 0);
    const foreign = await stranger.api.get<Page<RunRecord>>(`/runs/?project=${projects[0]}&workflow=${workflows[0]}`);
    assert.deepEqual([foreign.status, foreign.body.total, foreign.body.items], [200, 0, []]);
    await giveRole(stack, stranger, projects[1]!, 'viewer');
    const { total, items } = (await stranger.api.get<Page<RunRecord>>('/runs/')).body;
    assert.deepEqual([total, items.map(({ id }) => id)], [1, [runs[2]]]);
    const other = await stranger.api.get(`/runs/${runs[0]}/`);
    assert.deepEqual([other.status, other.body], [404, NOT_FOUND]);
    assert.equal((await stranger.api.get(`/runs/${runs[2]}/`)).status, 200);
  });

  it('attempts that validation refused are among them, with their errors in the single run alone', async () => {
    const { api: own } = await createAccount(stack);
    const [start, call] = [trigger(), http('')];
    link(start, call);
    const id = await own.createWorkflow(await own.createProject(), drawing([start, call]));
    const draft = (await own.run(id)).data.id;
    const { body } = await own.get<Page<RunRecord>>('/runs/?status=Draft');
    assert.deepEqual(
      body.items.map((item) => [item.id, 'result' in item]),
      [[draft, false]],
    );
  });

  it('one run by its id alone is the history item with its workflow and project', async () => {
    const item = await api.history(workflows[2]!, runs[2]!);
    const { status, body } = await api.get<RunRecord>(`/runs/${runs[2]!.toUpperCase()}/`);
    const workflow = { id: workflows[2], title: 'WEEKLY REPORT 2' };
    assert.deepEqual([status, body], [200, { ...item, workflow, project: { id: projects[1], name: 'two' } }]);
    for (const unknown of [randomUUID(), 'x', '1']) {
      assert.equal((await api.get(`/runs/${unknown}/`)).status, 404, unknown);
    }
  });

  it('runs of a deleted workflow or project are left out', async () => {
    const { api: own } = await createAccount(stack);
    const project = await own.createProject();
    const ids = [await own.createWorkflow(project, chain(1)), await own.createWorkflow(project, chain(1))];
    const ended = [];
    for (const id of ids) ended.push((await own.run(id)).data.id);
    for (const run of ended) await own.pollToEnd(run);
    const total = async (query = ''): Promise<number> => (await own.get<Page<RunRecord>>(`/runs/${query}`)).body.total;
    assert.deepEqual([await total(), await total('?status=Succeeded')], [2, 2]);
    await own.delete(`/workflows/${ids[0]}/`);
    assert.deepEqual([await total(), await total('?status=Succeeded')], [1, 1]);
    assert.equal((await own.get(`/runs/${ended[0]}/`)).status, 404);
    await own.delete(`/projects/${project}/`);
    assert.deepEqual([await total(), await total('?status=Succeeded')], [0, 0]);
    assert.equal((await own.get(`/runs/${ended[1]}/`)).status, 404);
  });
});
