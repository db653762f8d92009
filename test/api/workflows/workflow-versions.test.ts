import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { ApiAnswer, ApiClient } from '../../../harness/client/api-client.js';
import { chain, drawing, http, link, trigger, type Drawing } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { NOT_FOUND, type Page, type Workflow } from '../bodies.js';

interface Version {
  version: number;
  created_at: string;
  author: number;
  is_current: boolean;
  data?: Record<string, unknown>;
}

const MASK = '********';

describe('versions of a drawing', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let project: number;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    api = account.api;
    project = await api.createProject();
    target = await startHttpTarget();
  });
  after(() => target.close());

  const save = async (id: number, data: object): Promise<ApiAnswer<Workflow>> => {
    const answer = await api.patch<Workflow>(`/workflows/${id}/`, { body: { data } });
    assert.equal(answer.status, 200);
    return answer;
  };
  const versionsOf = async (id: number, query = ''): Promise<Page<Version>> =>
    (await api.get<Page<Version>>(`/workflows/${id}/versions/${query}`)).body;
  const read = async (id: number, version: number): Promise<Version> =>
    (await api.get<Version>(`/workflows/${id}/versions/${version}/`)).body;
  const restore = (id: number, version: number, by = api): Promise<ApiAnswer<Workflow>> =>
    by.post<Workflow>(`/workflows/${id}/versions/${version}/restore/`);
  /** A drawing of a trigger alone with this label. */
  const labelled = (label: string, position = { x: 0, y: 0 }): Record<string, unknown> => {
    const start = { id: 'start', type: 'trigger-node', position, data: { id: 'start', label, next_nodes: [] } };
    return { nodes: [start], edges: [], start_node: 'start' };
  };

  it('begin at 1 and rise with each change of what runs, and with nothing else', async () => {
    const id = await api.createWorkflow(project, labelled('A'));
    assert.equal((await save(id, labelled('A'))).body['version'], 1, 'the same again');
    assert.equal((await save(id, labelled('A', { x: 5, y: 6 }))).body['version'], 1, 'moved');
    const titled = await api.patch<Workflow>(`/workflows/${id}/`, { body: { title: 'Other', run_fee: '1' } });
    assert.equal(titled.body['version'], 1, 'the title');
    assert.equal((await save(id, labelled('B'))).body['version'], 2);
    const other = await createAccount(stack);
    await giveRole(stack, other, project, 'editor');
    await other.api.patch(`/workflows/${id}/`, { body: { data: labelled('C') } });
    const { page, size, total, items } = await versionsOf(id);
    assert.deepEqual([page, size, total], [1, 10, 3]);
    for (const { created_at: time } of items) assert.equal(new Date(time).toISOString(), time);
    const times = items.map((item) => item.created_at);
    assert.deepEqual(times, times.toSorted().toReversed());
    assert.deepEqual(
      items.map(({ version, author, is_current: isCurrent }) => [version, author, isCurrent]),
      [
        [3, other.userId, true],
        [2, account.userId, false],
        [1, account.userId, false],
      ],
    );
    assert.deepEqual((await versionsOf(id, '?page=2&size=2')).items, [items[2]]);
    assert.deepEqual((await versionsOf(id, '?page=3&size=2')).items, []);
  });

  it('each is kept with its drawing as it was last saved', async () => {
    const id = await api.createWorkflow(project, labelled('A'));
    await save(id, labelled('A', { x: 7, y: 8 }));
    await save(id, labelled('B'));
    const { created_at: _, ...first } = await read(id, 1);
    const moved = labelled('A', { x: 7, y: 8 });
    assert.deepEqual(first, { version: 1, author: account.userId, is_current: false, data: moved });
    assert.deepEqual((await read(id, 2)).data, labelled('B'));
    assert.equal((await read(id, 2)).is_current, true);
  });

  it('restoring one makes it the present drawing, as a new version that runs as it did then', async () => {
    const [before, after] = [chain(2), chain(3)];
    const id = await api.createWorkflow(project, before);
    await save(id, after);
    const { status, body } = await restore(id, 1);
    assert.deepEqual([status, body['version']], [200, 3]);
    assert.deepEqual(body.data, JSON.parse(JSON.stringify(before)));
    assert.deepEqual(body, (await api.get(`/workflows/${id}/`)).body);
    const run = await api.run(id);
    const { data } = await api.pollToEnd(run.data.id);
    assert.deepEqual([data.status, Object.keys(data.data ?? {}).length], ['succeed', 2]);
    assert.deepEqual((await versionsOf(id)).total, 3, 'nothing is lost');
    assert.deepEqual((await read(id, 2)).data, JSON.parse(JSON.stringify(after)));
  });

  it('restoring the present one, or one that runs the same, makes no new version', async () => {
    const id = await api.createWorkflow(project, labelled('A', { x: 1, y: 1 }));
    await save(id, labelled('B'));
    const present = (await api.get<Workflow>(`/workflows/${id}/`)).body;
    assert.deepEqual([(await restore(id, 2)).status, (await restore(id, 2)).body], [200, present]);
    assert.equal((await restore(id, 1)).body['version'], 3);
    await save(id, labelled('A', { x: 2, y: 2 }));
    const again = await restore(id, 1);
    assert.deepEqual([again.status, again.body['version']], [200, 3]);
    assert.deepEqual(again.body.data, labelled('A', { x: 1, y: 1 }), 'its looks are back');
  });

  it('a copy begins at version 1 and has none of the others', async () => {
    const id = await api.createWorkflow(project, labelled('A'));
    await save(id, labelled('B'));
    const copy = (await api.post<Workflow>(`/workflows/${id}/duplicate/`)).body;
    assert.equal(copy['version'], 1);
    const { total, items } = await versionsOf(copy.id);
    assert.deepEqual([total, items[0]?.version], [1, 1]);
    assert.deepEqual((await read(copy.id, 1)).data, labelled('B'));
    assert.equal((await restore(copy.id, 2)).status, 404);
  });

  it('two updates at once get two numbers, and the last one stands', async () => {
    const id = await api.createWorkflow(project, labelled('0'));
    const labels = Array.from({ length: 10 }, (_, index) => `label ${index + 1}`);
    const answers = await Promise.all(labels.map((label) => save(id, labelled(label))));
    assert.equal(answers.length, 10);
    const { total, items } = await versionsOf(id, '?size=100');
    assert.deepEqual(
      [total, items.map(({ version }) => version)],
      [11, Array.from({ length: 11 }, (_, index) => 11 - index)],
    );
    const kept = await Promise.all(items.map(async ({ version }) => JSON.stringify((await read(id, version)).data)));
    assert.equal(new Set(kept).size, 11, 'each drawing is there once');
    assert.equal(kept[0], JSON.stringify((await api.get<Workflow>(`/workflows/${id}/`)).body.data));
  });

  it('a run says the version that it was accepted with; a re-run, which takes the drawing as it is, the present one', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const first = (await api.run(id)).data.id;
    await save(id, chain(2));
    await api.pollToEnd(first);
    const second = await api.post<{ data: { id: string } }>(`/workflows/${id}/history/${first}/re-run/`);
    const runId = second.body.data.id;
    await api.pollToEnd(runId);
    const versions = await Promise.all(
      [first, runId].map(async (run) => (await api.history(id, run))['workflow_version']),
    );
    assert.deepEqual(versions, [1, 2]);
    const list = await api.get<Page<{ workflow_version: number }>>(`/workflows/${id}/history/`);
    assert.deepEqual(
      list.body.items.map((item) => item.workflow_version),
      [2, 1],
    );
  });

  it('an attempt that validation refuses says its version, too', async () => {
    const [start, call] = [trigger(), http('')];
    link(start, call);
    const id = await api.createWorkflow(project, chain(1));
    await save(id, drawing([start, call]));
    const draft = await api.run(id);
    assert.equal(draft.status, 422);
    assert.equal((await api.history(id, draft.data.id))['workflow_version'], 2);
  });

  describe('and their secrets', () => {
    /** A drawing that sends the secret field in a header to the target. */
    const draw = (secret: string): Drawing => {
      const start = trigger([{ id: 'token', is_secret: true, default_value: secret }]);
      const call = http(`${target.url}/echo/${start.id}`, { headers: { 'X-Token': '{{ input.token }}' } });
      link(start, call);
      return drawing([start, call]);
    };
    const withSecret = (data: Drawing, secret: string): Drawing => {
      const copy = structuredClone(data);
      (copy.nodes[0]!.data['input_fields'] as { default_value: string }[])[0]!.default_value = secret;
      return copy;
    };
    const canary = (): string => `canary-${randomBytes(8).toString('hex')}`;
    const sentBy = async (id: number, data: Drawing): Promise<string | undefined> => {
      await api.pollToEnd((await api.run(id)).data.id);
      return target.requestsTo(`/echo/${data.nodes[0]!.id}`).at(-1)?.headers['x-token'] as string | undefined;
    };

    it('a changed secret is another version; ******** is none', async () => {
      const data = draw(canary());
      const id = await api.createWorkflow(project, data);
      assert.equal((await save(id, withSecret(data, MASK))).body['version'], 1);
      assert.equal((await save(id, withSecret(data, canary()))).body['version'], 2);
    });

    it('come back with a version that is restored, and are ******** in every answer and plain in no row', async () => {
      const [old, fresh] = [canary(), canary()];
      const data = draw(old);
      const id = await api.createWorkflow(project, data);
      await save(id, withSecret(data, fresh));
      assert.equal(await sentBy(id, data), fresh);
      const answers = [await versionsOf(id), await read(id, 1), await read(id, 2), (await restore(id, 1)).body];
      assert.equal(await sentBy(id, data), old);
      const rows = [
        await queryDatabase(stack, 'SELECT t::text FROM workflow_versions t WHERE workflow_id = $1', [id]),
        await queryDatabase(stack, 'SELECT t::text FROM workflows t WHERE id = $1', [id]),
      ];
      const told = JSON.stringify([answers, rows, stack.logs()]);
      for (const secret of [old, fresh]) {
        assert.ok(!told.includes(secret) && !told.includes(Buffer.from(secret).toString('hex')));
      }
      assert.deepEqual((await read(id, 1)).data, JSON.parse(JSON.stringify(withSecret(data, MASK))));
    });
  });

  it('a workflow keeps its last thousand versions', async () => {
    const id = await api.createWorkflow(project, labelled('A'));
    await queryDatabase(
      stack,
      `INSERT INTO workflow_versions (workflow_id, version, author_id, document, created_at)
       SELECT id, number, author_id, document, created_at FROM workflows, generate_series(1, 999) AS number WHERE id = $1`,
      [id],
    );
    await queryDatabase(stack, 'UPDATE workflows SET version = 1000 WHERE id = $1', [id]);
    assert.equal((await versionsOf(id)).total, 1000);
    assert.equal((await save(id, labelled('B'))).body['version'], 1001);
    assert.deepEqual(
      [(await versionsOf(id)).total, (await versionsOf(id, '?page=1000&size=1')).items[0]?.version],
      [1000, 2],
    );
    assert.equal((await restore(id, 1)).status, 404);
  });

  it('404: a version that there is not, and those of a workflow that is gone or of others', async () => {
    const id = await api.createWorkflow(project, labelled('A'));
    for (const version of ['0', '2', '-1', '1.5', 'x', '99999999999']) {
      const answer = await api.get(`/workflows/${id}/versions/${version}/`);
      assert.deepEqual([answer.status, answer.body], [404, NOT_FOUND], version);
      assert.equal((await api.post(`/workflows/${id}/versions/${version}/restore/`)).status, 404, version);
    }
    const stranger = await createAccount(stack);
    assert.equal((await stranger.api.get(`/workflows/${id}/versions/1/`)).status, 404);
    await api.delete(`/workflows/${id}/`);
    for (const path of ['', '1/']) assert.equal((await api.get(`/workflows/${id}/versions/${path}`)).status, 404);
    assert.equal((await restore(id, 1)).status, 404);
  });
});
