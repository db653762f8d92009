// Human tasks. docs/use/nodes.md, "Human task"; docs/use/approvers.md, "Human tasks".
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createAccount, giveRole, type Account } from '../api/accounts.js';
import type { ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { openEventStream } from '../support/event-stream.js';
import {
  drawing,
  http,
  link,
  linkInRow,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { queryDatabase, transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { taskOf } from '../support/waiting.js';
import { createHook, deliveriesOf, startRun, verify } from '../api/webhook-receiver.js';

interface Task {
  id: string;
  status: string;
  message: string;
  may_answer: boolean;
  action: string | null;
  answers: {
    answered_by: { id: number };
    action: string;
    values: Record<string, unknown>;
    comment: string;
    answered_at: string;
  }[];
  path: string;
}

describe('human tasks', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let owner: Account;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    owner = await createAccount(stack);
    ({ api } = owner);
    target = await startHttpTarget();
  });
  after(() => target.close());

  function human(data: Record<string, unknown> = {}): DrawingNode {
    return node('human', { message: 'Well?', ...data });
  }

  async function start(nodes: DrawingNode[], input: unknown = {}) {
    const project = await api.createProject();
    const workflowId = await api.createWorkflow(project, drawing(nodes));
    return { project, workflowId, runId: (await api.run(workflowId, input)).data.id };
  }

  async function member(project: number, role: 'viewer' | 'editor' | 'admin'): Promise<Account> {
    const account = await createAccount(stack);
    await giveRole(stack, account, project, role);
    return account;
  }

  const read = async (id: string, by = api) => (await by.get<Task>(`/human-tasks/${id}/`)).body;
  const answer = (id: string, body: object, by = api) =>
    by.post<Task & { code?: string }>(`/human-tasks/${id}/answer/`, { body });
  const pending = async (by = api) =>
    (await by.get<{ total: number; items: Task[] }>('/human-tasks/?status=pending')).body.items;

  it('a value that the database refuses fails the node at once', async () => {
    const refused = `refused ${randomUUID()}`;
    await queryDatabase(
      stack,
      `CREATE OR REPLACE FUNCTION refuse_a_task() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.message LIKE 'refused %' THEN RAISE 'out of range' USING ERRCODE = '22003'; END IF; RETURN NEW; END $$;
      CREATE OR REPLACE TRIGGER refuse_a_task BEFORE INSERT ON human_tasks
        FOR EACH ROW EXECUTE FUNCTION refuse_a_task()`,
    );
    try {
      const ask = human({ message: refused });
      const { runId } = await start(linkInRow([trigger(), ask]));
      const end = await api.pollToEnd(runId);
      assert.equal(end.data.status, 'failed');
      assert.equal(end.data.data![ask.id]!.error!.code, 'internal_error');
    } finally {
      await queryDatabase(stack, 'DROP FUNCTION refuse_a_task() CASCADE');
    }
  });

  it('ids of actions and fields stay as they are drawn, also where a secret is equal to one', async () => {
    const begin = trigger([{ id: 'secret', is_secret: true }]);
    const [yes, no] = [node('output', { value: 'paid' }), node('output', { value: 'kept' })];
    const actions = [
      { id: 'approve', label: 'approve it', node: yes.id },
      { id: 'refuse', node: no.id },
    ];
    const ask = human({ fields: [{ id: 'approve', title: 'approve' }], actions });
    link(begin, ask);
    const { runId } = await start([begin, ask, yes, no], { secret: 'approve' });
    const id = await taskOf(api, runId, ask.id);
    const task = (await api.get<{ fields: unknown[]; actions: unknown[] }>(`/human-tasks/${id}/`)).body;
    assert.deepEqual(task.actions, [
      { id: 'approve', label: '******** it' },
      { id: 'refuse', label: 'refuse' },
    ]);
    assert.deepEqual(task.fields, [{ id: 'approve', title: '********' }]);
    assert.equal((await answer(id, { action: 'approve', values: { approve: 'x' } })).status, 200);
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.output, 'paid');
  });

  it('ask, take values and a comment, and go on by the action that was chosen', async () => {
    const begin = trigger([{ id: 'secret', is_secret: true }, { id: 'order' }]);
    const [yes, no] = [http(`${target.url}/yes`), http(`${target.url}/no`)];
    const fields = [
      { id: 'amount', title: 'Amount', input_requirements: true },
      { id: 'note', default_value: 'none' },
      { id: 'extra' },
      { id: 'count', type: 'number' },
      { id: 'size', type: 'select', options: [{ value: 'small' }, { value: 'large' }] },
      { id: 'paid', type: 'checkbox' },
      { id: 'bill', type: 'file' },
    ];
    const ask = human({
      message: '# Order {{ input.order }}\nKey {{ input.secret }}',
      fields,
      actions: [
        { id: 'yes', label: 'Pay', node: yes.id },
        { id: 'no', node: no.id },
      ],
    });
    const told = node('set', {
      value: { given: resultOf(ask, 'values.amount'), by: resultOf(ask, 'answered_by') },
    });
    link(begin, ask);
    link(yes, told);
    const { runId } = await start([begin, ask, yes, no, told], { order: '<b>7</b>', secret: 'hunter2-hunter2' });
    const id = await taskOf(api, runId, ask.id);
    const task = await read(id);
    assert.equal(task.message, '# Order <b>7</b>\nKey ********');
    assert.equal(task.may_answer, true);
    assert.ok((await pending()).some((one) => one.id === id));
    for (const [body, field] of [
      [{ action: 'maybe', values: { amount: 1 } }, 'action'],
      [{ action: 'yes' }, 'values.amount'],
      [{ action: 'yes', values: { amount: '' } }, 'values.amount'],
      [{ action: 'yes', values: { amount: 1, count: 'many' } }, 'values.count'],
      [{ action: 'yes', values: { amount: 1, size: 'huge' } }, 'values.size'],
      [{ action: 'yes', values: { amount: 1, paid: 'perhaps' } }, 'values.paid'],
      [{ action: 'yes', values: { amount: 1, bill: 'no file' } }, 'values.bill'],
    ] as const) {
      const refused = await answer(id, body);
      assert.equal(refused.status, 400);
      assert.deepEqual(Object.keys(refused.body), [field]);
    }
    // An undeclared field is ignored.
    const values = { amount: 12, extra: 'hunter2-hunter2', more: 'undeclared' };
    const given = { action: 'yes', values, comment: 'it is hunter2-hunter2' };
    const answered = await answer(id, given);
    assert.equal(answered.status, 200, JSON.stringify(answered.body));
    assert.equal(answered.body.status, 'answered');
    assert.equal(answered.body.action, 'yes');
    assert.deepEqual(answered.body.answers[0]!.values, { amount: 12, extra: '********', note: 'none' });
    assert.equal(answered.body.answers[0]!.comment, 'it is ********');
    assert.match(answered.body.answers[0]!.answered_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.equal((await answer(id, given)).status, 409);
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.status, 'succeed', JSON.stringify(end));
    assert.deepEqual(end.data.data![ask.id]!.result, {
      content: 'yes',
      action: 'yes',
      values: { amount: 12, extra: '********', note: 'none' },
      comment: 'it is ********',
      answered_by: [owner.userId],
    });
    assert.deepEqual(end.data.data![told.id]!.result!['value'], { given: 12, by: [owner.userId] });
    assert.equal(end.data.data![no.id], undefined);
    assert.equal(target.requestsTo('/yes').length, 1);
    assert.equal((await transactionsOf(stack, runId)).length, 4);
    assert.ok(!(await pending()).some((one) => one.id === id));
    assert.ok(!JSON.stringify(end).includes('hunter2'));
  });

  it('raise the version by each answer that counts, and tell of it in the stream', async () => {
    const nodes = linkInRow([trigger(), human({ required: 3 })]);
    const { project, runId } = await start(nodes);
    const people = [owner, await member(project, 'editor'), await member(project, 'editor')];
    const id = await taskOf(api, runId, nodes[1]!.id);
    const stream = await openEventStream(stack.apiUrl, owner.apiKey, runId);
    const told = () =>
      stream.events.flatMap(({ event, id: version, data }) =>
        event === 'human_task' ? [{ ...(data as unknown as Task), version }] : [],
      );
    let { version } = (await api.poll(runId)).data;
    for (const [index, { api: by }] of people.entries()) {
      await eventually(() => told().length === index + 1);
      assert.equal((await answer(id, { action: 'done' }, by)).status, 200);
      const after = (await api.poll(runId)).data.version;
      assert.ok(after! > version!, `${after} after ${version}`);
      version = after;
    }
    await stream.ended;
    const seen = told();
    assert.deepEqual(
      seen.map(({ status, answers }) => [status, answers.map(({ answered_by: { id: by } }) => by)]),
      [
        ['pending', []],
        ['pending', [people[0]!.userId]],
        ['pending', people.slice(0, 2).map(({ userId }) => userId)],
        ['answered', people.map(({ userId }) => userId)],
      ],
    );
    assert.equal(new Set(seen.map((task) => task.version)).size, 4, 'each event has a version of its own');
    const resumed = await openEventStream(stack.apiUrl, owner.apiKey, runId, { lastEventId: seen[1]!.version });
    await resumed.ended;
    assert.deepEqual(
      resumed.events.filter(({ event }) => event === 'human_task').map((event) => event.id),
      seen.slice(2).map((task) => task.version),
    );
  });

  it('are told as events, in the poll and in the order of their changes', async () => {
    const [begin, ask] = linkInRow([trigger(), human()]);
    const { runId } = await start([begin!, ask!]);
    const stream = await openEventStream(stack.apiUrl, owner.apiKey, runId);
    const polled = async () => (await api.poll(runId)).data.data![ask!.id]!;
    const id = await taskOf(api, runId, ask!.id);
    assert.equal((await polled()).waiting?.task_id, id);
    assert.equal((await answer(id, { action: 'done' })).status, 200);
    await stream.ended;
    const { status: ended, waiting } = await polled();
    assert.deepEqual([ended, waiting ?? null], ['succeed', null]);
    const { events } = stream;
    const tasks = events.filter(({ event }) => event === 'human_task').map(({ data }) => data as unknown as Task);
    assert.deepEqual(
      tasks.map(({ id: of, status, action }) => [of, status, action]),
      [
        [id, 'pending', null],
        [id, 'answered', 'done'],
      ],
    );
    const ids = events.map(({ id: version }) => version);
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((a, b) => a - b),
      'each event has a version of its own',
    );
  });

  it('are told to the webhook of the project, once each', async () => {
    const hook = await createHook(api, target);
    const nodes = linkInRow([trigger(), human({ required: 2 })]);
    const runId = await startRun(api, hook.projectId, drawing(nodes));
    const id = await taskOf(api, runId, nodes[1]!.id);
    const colleague = await member(hook.projectId, 'editor');
    for (const by of [api, colleague.api]) assert.equal((await answer(id, { action: 'done' }, by)).status, 200);
    await api.pollToEnd(runId);
    const log = await eventually(async () => {
      const deliveries = await deliveriesOf(api, hook.projectId);
      return deliveries.length >= 3 && deliveries.every(({ status }) => status === 'delivered') && deliveries;
    });
    const types = ['workflow_run.started', 'human_task.requested', 'workflow_run.succeeded'];
    assert.deepEqual(
      log.map(({ type }) => type),
      types,
    );
    const received = target.requestsTo(hook.path).map((request) => verify(request, hook.secret));
    assert.deepEqual(
      received.map(({ type, data }) => [type, data.run_id, data.project_id]),
      types.map((type) => [type, runId, hook.projectId]),
    );
  });

  it('go on by the ordinary links where they list no action', async () => {
    const nodes = linkInRow([trigger(), human(), http(`${target.url}/ordinary`)]);
    const { runId } = await start(nodes);
    assert.equal((await answer(await taskOf(api, runId, nodes[1]!.id), { action: 'done' })).status, 200);
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.data![nodes[2]!.id]!.status, 'succeed');
  });

  it('are for those whom they name: by role, by user, without the starter', async () => {
    const nodes = linkInRow([
      trigger(),
      human({ assignees: { roles: ['viewer'], users: [] }, exclude_starter: true }),
      human({ assignees: { users: [owner.userId] } }),
      human({ exclude_starter: true }),
    ]);
    const { project, runId } = await start(nodes);
    const [viewer, editor, stranger] = [
      await member(project, 'viewer'),
      await member(project, 'editor'),
      await createAccount(stack),
    ];
    const first = await taskOf(api, runId, nodes[1]!.id);
    assert.equal((await answer(first, { action: 'done' }, stranger.api)).status, 404);
    assert.equal((await answer(first, { action: 'done' }, editor.api)).status, 403);
    assert.equal((await answer(first, { action: 'done' })).status, 403);
    assert.equal((await read(first)).may_answer, false);
    assert.deepEqual(await pending(editor.api), []);
    assert.equal((await pending(viewer.api)).length, 1);
    assert.equal((await answer(first, { action: 'done' }, viewer.api)).status, 200);
    const second = await taskOf(api, runId, nodes[2]!.id);
    assert.equal((await answer(second, { action: 'done' }, editor.api)).status, 403);
    assert.equal((await answer(second, { action: 'done' })).status, 200);
    const third = await taskOf(api, runId, nodes[3]!.id);
    assert.equal((await answer(third, { action: 'done' })).status, 403, 'the starter');
    assert.equal((await answer(third, { action: 'done' }, viewer.api)).status, 403, 'who may not run it');
    assert.equal((await answer(third, { action: 'done' }, editor.api)).status, 200);
    const { body } = await api.get<{ items: Task[] }>('/human-tasks/?status=decided');
    assert.ok(body.items.some(({ id }) => id === second));
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
  });

  it('of 50 who answer at once, as many count as are required; nobody twice', async () => {
    const nodes = linkInRow([trigger(), human({ required: 3, actions: [{ id: 'yes' }, { id: 'no' }] })]);
    const { project, runId } = await start(nodes);
    const people = await Promise.all(Array.from({ length: 25 }, () => member(project, 'editor')));
    const id = await taskOf(api, runId, nodes[1]!.id);
    assert.equal((await answer(id, { action: 'no', comment: 'never' })).status, 200);
    const again = await answer(id, { action: 'yes' });
    assert.equal(again.status, 409);
    assert.equal(again.body.code, 'already_answered');
    assert.ok(!(await pending()).some((task) => task.id === id), 'it waits for others');
    const given = await Promise.all(
      [...people, ...people].map(({ api: by, userId }) => answer(id, { action: 'yes', comment: `${userId}` }, by)),
    );
    const taken = given.filter(({ status }) => status === 200);
    assert.equal(taken.length, 3, JSON.stringify(given.map(({ status }) => status)));
    assert.ok(given.every(({ status }) => status === 200 || status === 409));
    const end = await api.pollToEnd(runId);
    const { result } = end.data.data![nodes[1]!.id]!;
    const by = result!['answered_by'] as number[];
    assert.equal(new Set(by).size, 3);
    assert.equal(result!['comment'], `${by[2]}`, 'values and comment are those of the answer that settled it');
    assert.equal((await read(id)).answers.length, 4);
  });

  it('time out by their own link, and fail without one; nobody can answer then', async () => {
    const after = http(`${target.url}/timed-out`);
    const begin = trigger();
    const ask = human({ timeout: 1, timeout_node: after.id });
    link(begin, ask);
    const { runId } = await start([begin, ask, after]);
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.status, 'succeed', JSON.stringify(end));
    const tasks = 'SELECT task_id FROM human_tasks WHERE run_id = $1';
    const [task] = await queryDatabase<{ task_id: string }>(stack, tasks, [runId]);
    const id = task!.task_id;
    const { status, error, handled } = end.data.data![ask.id]! as { status: string; error: object; handled: boolean };
    assert.deepEqual(
      { status, error, handled },
      {
        status: 'failed',
        error: { code: 'human_timeout', message: 'Not enough people have answered in time.' },
        handled: true,
      },
    );
    assert.equal(end.data.data![after.id]!.status, 'succeed');
    assert.equal((await read(id)).status, 'expired');
    assert.equal((await answer(id, { action: 'done' })).body.code, 'settled');
    const alone = await api.runToEnd(drawing(linkInRow([trigger(), human({ timeout: 0 })])));
    assert.equal(alone.status, 'failed');
  });

  it('are closed with their run, and with the iteration that fails beside them', async () => {
    const nodes = linkInRow([trigger(), human()]);
    const { runId, workflowId } = await start(nodes);
    const id = await taskOf(api, runId, nodes[1]!.id);
    await api.post(`/workflows/${workflowId}/history/${runId}/cancel/`);
    await api.pollToEnd(runId);
    assert.equal((await read(id)).status, 'expired');
    const late = await answer(id, { action: 'done' });
    assert.deepEqual([late.status, late.body.code], [409, 'settled']);

    const [begin, split, ask] = [trigger(), node('set', { value: 'x' }), human()];
    const pause = http(`${target.url}/hold/human-beside`);
    const breaks = node('code', { code: 'throw new Error("no")' });
    link(split, [ask, pause]);
    link(pause, breaks);
    const output = '{{ LOOP.index }}';
    const loop = node('for_each', { items: [1], body_node: split.id, on_item_error: 'skip', output });
    link(begin, loop);
    const inLoop = await start([begin, loop, split, ask, pause, breaks]);
    const open = await eventually(async () => (await pending())[0]);
    assert.equal(open.path, `${loop.id}[0]`);
    target.release('/hold/human-beside');
    const end = await api.pollToEnd(inLoop.runId);
    assert.equal(end.data.status, 'succeed', JSON.stringify(end));
    assert.equal((await read(open.id)).status, 'expired');
  });

  it('of a loop are told apart by their paths', async () => {
    const begin = trigger();
    const ask = human({ message: 'Number {{ LOOP.item }}?', fields: [{ id: 'n' }] });
    const loop = node('for_each', { items: [1, 2, 3], body_node: ask.id, output: resultOf(ask, 'values.n') });
    ask.data['message'] = `Number {{ ${loop.id}.item }}?`;
    link(begin, loop);
    const { runId, workflowId } = await start([begin, loop, ask]);
    const open = await eventually(async () => {
      const tasks = await pending();
      return tasks.length === 3 && tasks;
    });
    const { body } = await api.get<{ items: { nodes: Record<string, { waiting: { task_id: string } }> }[] }>(
      `/workflows/${workflowId}/history/${runId}/iterations/?node=${loop.id}`,
    );
    assert.deepEqual(
      new Set(body.items.map(({ nodes }) => nodes[ask.id]!.waiting.task_id)),
      new Set(open.map(({ id }) => id)),
    );
    for (const { id, message } of open) {
      const n = Number(/\d/.exec(message)![0]) * 10;
      assert.equal((await answer(id, { action: 'done', values: { n } })).status, 200);
    }
    const end = await api.pollToEnd(runId);
    assert.deepEqual(end.data.data![loop.id]!.result!['items'], [10, 20, 30]);
  });
});
