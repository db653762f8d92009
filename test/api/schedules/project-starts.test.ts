// The schedules and hooks of a whole project, each with its workflow.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { chain, drawing, trigger } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, restrictedTo, type Account } from '../accounts.js';
import type { Page } from '../bodies.js';
import { makeStartHook, type StartHook } from '../hooks/hook-sender.js';
import { makeSchedule, ONCE_A_YEAR, type Schedule } from './schedule-maker.js';

interface OfWorkflow {
  workflow: { id: number; title: string };
}

describe('schedules and hooks of a project', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    api = account.api;
  });

  beforeEach(async () => {
    project = await api.createProject();
  });

  const schedules = async (query = '', client = api) =>
    (await client.get<Page<Schedule & OfWorkflow>>(`/projects/${project}/schedules/${query}`)).body;
  const hooks = async (query = '', client = api) =>
    (await client.get<Page<StartHook & OfWorkflow>>(`/projects/${project}/hooks/${query}`)).body;

  it('are those of its workflows, with the fields that the workflow lists, and of no other project', async () => {
    const [one, two] = [
      await api.createWorkflow(project, chain(1), 'One'),
      await api.createWorkflow(project, chain(1), 'Two'),
    ];
    const elsewhere = await api.createWorkflow(await api.createProject(), chain(1));
    await makeSchedule(api, elsewhere);
    await makeStartHook(api, elsewhere);
    const later = await makeSchedule(api, two);
    const earlier = await makeSchedule(api, one, { cron: ONCE_A_YEAR, is_paused: true });
    const made = [await makeStartHook(api, two), await makeStartHook(api, one)];
    const [ofOne, ofTwo] = [
      { id: one, title: 'One' },
      { id: two, title: 'Two' },
    ];
    assert.deepEqual(await schedules(), {
      page: 1,
      size: 10,
      total: 2,
      items: [
        { ...earlier, workflow: ofOne },
        { ...later, workflow: ofTwo },
      ],
    });
    assert.deepEqual(await hooks(), {
      page: 1,
      size: 10,
      total: 2,
      items: [
        { ...made[1], workflow: ofOne },
        { ...made[0], workflow: ofTwo },
      ],
    });
    assert.deepEqual(
      (await hooks('?page=2&size=1')).items.map(({ id }) => id),
      [made[0]!.id],
    );
    assert.equal((await api.delete(`/workflows/${one}/`)).status, 204);
    assert.deepEqual([(await schedules()).total, (await hooks()).total], [1, 1]);
  });

  it('show at most 20 schedules at once, because Temporal is asked about each', async () => {
    assert.equal((await schedules('?size=100')).size, 20);
  });

  it('never show a value whose field is or was secret, or a secret of the drawing', async () => {
    const field = { id: 'token', type: 'text', label: 'Token', is_secret: true };
    const [token, fixed] = [`secret-${randomUUID()}`, `secret-${randomUUID()}`];
    const later = { id: 'later', type: 'text', label: 'Later' };
    const secret = { id: 'fixed', type: 'text', label: 'Fixed', is_secret: true, default_value: fixed };
    const id = await api.createWorkflow(project, drawing([trigger([field, later, secret])]));
    const input = { token, later: 'marked later', note: `${token} ${fixed}` };
    await makeSchedule(api, id, { cron: ONCE_A_YEAR, input });
    const changed = [{ ...field, is_secret: false }, { ...later, is_secret: true }, secret];
    const saved = await api.patch(`/workflows/${id}/`, { body: { data: drawing([trigger(changed)]) } });
    assert.equal(saved.status, 200);
    const { items } = await schedules();
    const { body } = await api.get<Page<Schedule>>(`/workflows/${id}/schedules/`);
    assert.deepEqual(items[0]!.input, body.items[0]!.input);
    const text = JSON.stringify(items);
    for (const each of [token, fixed, 'marked later']) assert.equal(text.includes(each), false, each);
  });

  it('show the address of a hook to its author and to owners alone', async () => {
    const id = await api.createWorkflow(project, chain(1));
    const hook = await makeStartHook(api, id);
    const [editor, admin, owner] = [await createAccount(stack), await createAccount(stack), await createAccount(stack)];
    await giveRole(stack, editor, project, 'editor');
    await giveRole(stack, admin, project, 'admin');
    await giveRole(stack, owner, project, 'owner');
    const own = await makeStartHook(editor.api, id);
    const urls = async (client: ApiClient) => (await hooks('', client)).items.map(({ url }) => url);
    assert.deepEqual(await urls(editor.api), [undefined, own.url]);
    assert.deepEqual(await urls(admin.api), [undefined, undefined]);
    assert.deepEqual(await urls(owner.api), [hook.url, own.url]);
  });

  it('are unknown to strangers, and refused to a key of another project', async () => {
    const stranger = await createAccount(stack);
    const { api: key } = await restrictedTo(stack, await api.createProject(), account);
    for (const kind of ['schedules', 'hooks']) {
      assert.equal((await stranger.api.get(`/projects/${project}/${kind}/`)).status, 404, kind);
      assert.equal((await key.get(`/projects/${project}/${kind}/`)).status, 403, kind);
    }
  });
});
