// The drill of docs/operate/backup.md: a running service is lost, and restored from backups of its two stores, each of
// which was taken at moment A or at moment B. Between A and B, runs started, continued and ended, and got approvals,
// answers and callbacks.
import assert from 'node:assert/strict';
import path from 'node:path';
import { Decimal } from 'decimal.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  agent,
  drawing,
  http,
  linkInRow,
  llm,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { callBack, callbackUrlOf, taskOf, untilWaiting } from '../support/waiting.js';
import { countOpen, World, type Operate } from './restored-world.js';
import { takeSnapshot, type Backups } from './snapshots.js';

/** Longer than the interval between two checks of a run by the reconciler, 45 s. */
const LONG = { timeoutMs: 90_000, intervalMs: 200 };
/** The time-out of calls that are held for long. */
const PATIENT = { settings: { timeout: 200 } };
const NOTE = 'note';
/** These runs end between the two moments. */
const ENDED = ['posted', 'approved', 'called', 'child', 'parent'];

const ending = (how: string, ...names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, how]));

describe('a service that is restored', function () {
  this.timeout(300_000);
  let world: World;
  let projectId: number;
  let atA: Backups;
  let atB: Backups;
  const ids: Record<string, string> = {};
  let workflows = 0;

  async function start(api: ApiClient, name: string, nodes: DrawingNode[]): Promise<void> {
    const workflow = await api.createWorkflow(projectId, drawing(linkInRow(nodes)), `${name} ${++workflows}`);
    ids[name] = (await api.run(workflow)).data.id;
  }

  /** Starts an agent that asks for `approvals` approvals, one after the other, each for a note with its run's name. */
  function startAgent(api: ApiClient, name: string, approvals = 1): Promise<void> {
    world.model.script(`agent-${name}`, ({ messages }) => {
      const isDone = messages.filter(({ role }) => role === 'tool').length >= approvals;
      return isDone ? { text: 'done' } : { toolCalls: [{ name: NOTE, arguments: { text: name } }] };
    });
    const server = { endpoint_url: world.tools.url, require_approval: 'always' };
    return start(api, name, [trigger(), agent('note it', { model_name: `agent-${name}` }, [server])]);
  }

  const notesOf = (name: string): number =>
    world.tools.callsOf(NOTE).filter((call) => call.arguments['text'] === name).length;

  async function pendingOf(api: ApiClient, name: string): Promise<string | undefined> {
    const { body } = await api.get<{ request_id: string; status: string }[]>(
      `/workflows/workflow_run/${ids[name]}/agent-approval/`,
    );
    return body.find(({ status }) => status === 'pending')?.request_id;
  }

  async function approve(api: ApiClient, name: string): Promise<void> {
    const request = await eventually(() => pendingOf(api, name), LONG);
    const answer = await api.post<{ status: number }>(
      `/workflows/workflow_run/${ids[name]}/agent-approval/${request}/approve/`,
    );
    assert.equal(answer.body.status, 200);
  }

  async function answerTask(api: ApiClient, { id }: DrawingNode): Promise<void> {
    const task = await taskOf(api, ids['asked']!, id);
    assert.equal((await api.post(`/human-tasks/${task}/answer/`, { body: { action: 'done' } })).status, 200);
  }

  const endOf = async (api: ApiClient, name: string): Promise<string> =>
    (await api.pollToEnd(ids[name]!, LONG)).data.status;

  /** Returns the end of each run. Asserts that its costs are consistent: one transaction a node, and equal sums. */
  async function booksOf(stack: TestStack): Promise<Record<string, string>> {
    const rows = await queryDatabase<{ id: string; status: string; code: string | null; ok: boolean }>(
      stack,
      `SELECT id, status, error_code AS code, cost_usd = (
         SELECT coalesce(sum(amount_usd), 0) FROM billing_transactions WHERE run_id = runs.id
       ) AND NOT EXISTS (
         SELECT FROM node_results node WHERE node.run_id = runs.id AND 1 <> (
           SELECT count(*) FROM billing_transactions paid WHERE paid.run_id = runs.id AND paid.path = node.path AND paid.node_id = node.node_id)
       ) AS ok FROM runs`,
    );
    const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
    for (const { id, ok } of rows) assert.ok(ok, `the books of ${names.get(id)} do not balance`);
    const [sum] = await queryDatabase<{ usd: string }>(stack, 'SELECT sum(cost_usd)::text AS usd FROM runs');
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const { body } = await api.get<{ total_spent: Record<string, string> }>(`/projects/${projectId}/`);
    assert.ok(new Decimal(sum!.usd).equals(body.total_spent['USD']!));
    return Object.fromEntries(rows.map(({ id, status, code }) => [names.get(id), code ?? status]));
  }

  const callback = node('wait', { mode: 'callback' });
  const questions = [node('human', { message: 'One?' }), node('human', { message: 'Two?' })] as const;

  const postsOf = (name: string): string[] => world.target.requestsTo(`/held/${name}`).map(({ body }) => body);

  before(async () => {
    world = await World.create();
    const stack = await world.start(world.home);
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    projectId = await api.createProject();
    const held = (name: string, data = {}) => http(world.hold(name), { ...PATIENT, ...data });
    await start(api, 'done', [trigger(), llm('hello')]);
    assert.equal(await endOf(api, 'done'), 'succeed');
    await start(api, 'posted', [trigger(), held('posted', { method: 'POST' }), llm('and on')]);
    const first = held('first');
    const second = held('second', { method: 'POST', body: resultOf(first) });
    await start(api, 'ahead', [trigger(), first, second]);
    for (const name of ['waiting', 'approved']) await startAgent(api, name);
    await startAgent(api, 'between', 2);
    for (const name of ['waiting', 'approved', 'between']) await eventually(() => pendingOf(api, name), LONG);
    await start(api, 'called', [trigger(), callback]);
    await start(api, 'asked', [trigger(), ...questions]);
    const child = await api.createWorkflow(projectId, drawing(linkInRow([trigger(), held('child')])));
    const calls = node('workflow', { workflow_id: child });
    await start(api, 'parent', [trigger(), calls]);
    ids['child'] = (await untilWaiting(api, ids['parent']!, calls.id)).waiting!.run_id!;
    const address = await callbackUrlOf(api, ids['called']!, callback.id);
    await taskOf(api, ids['asked']!, questions[0].id);
    await eventually(() => ['posted', 'first', 'child'].every((name) => postsOf(name).length === 1), LONG);
    atA = takeSnapshot(stack, path.join(world.home, 'A'));

    for (const name of ['posted', 'first', 'child']) world.release(name);
    for (const name of ['approved', 'between']) await approve(api, name);
    assert.deepEqual(await callBack(address), { status: 200, accepted: true });
    await answerTask(api, questions[0]);
    for (const name of ENDED) assert.equal(await endOf(api, name), 'succeed');
    await start(api, 'late', [trigger(), llm('late')]);
    assert.equal(await endOf(api, 'late'), 'succeed');
    await startAgent(api, 'late and waiting');
    for (const name of ['between', 'late and waiting']) await eventually(() => pendingOf(api, name), LONG);
    await taskOf(api, ids['asked']!, questions[1].id);
    await eventually(() => postsOf('second').length === 1, LONG);
    atB = takeSnapshot(stack, path.join(world.home, 'B'));

    await stack.stop();
    world.release('second');
  });

  after(async () => {
    await world.close();
  });

  it('at one moment of both stores goes on where it was, and nothing is done or billed again', async () => {
    const notes = { waiting: notesOf('waiting'), between: notesOf('between'), late: notesOf('late and waiting') };
    await world.restored(atB, async (stack) => {
      const api = createApiClient(stack.apiUrl, stack.apiKey);
      for (const name of ['waiting', 'between', 'late and waiting']) {
        await approve(api, name);
        assert.equal(await endOf(api, name), 'succeed');
      }
      await answerTask(api, questions[1]);
      assert.equal(await endOf(api, 'asked'), 'succeed');
      assert.equal(await endOf(api, 'ahead'), 'failed');
      assert.deepEqual(await booksOf(stack), {
        ...ending('Succeeded', 'done', 'late', ...ENDED),
        ...ending('Succeeded', 'waiting', 'between', 'late and waiting', 'asked'),
        // The POST of this run was in flight.
        ahead: 'outcome_unknown',
      });
    });
    assert.deepEqual([postsOf('posted').length, postsOf('second').length], [1, 1]);
    assert.equal(notesOf('approved'), 1);
    assert.equal(notesOf('waiting'), notes.waiting + 1);
    assert.equal(notesOf('between'), notes.between + 1);
    assert.equal(notesOf('late and waiting'), notes.late + 1);
  });

  it('with a Temporal older than Postgres finds what was done in Postgres: nothing is done or billed again', async () => {
    const notes = { waiting: notesOf('waiting'), between: notesOf('between'), late: notesOf('late and waiting') };
    await world.restored({ postgres: atB.postgres, temporal: atA.temporal }, async (stack) => {
      const api = createApiClient(stack.apiUrl, stack.apiKey);
      // Runs in Temporal's backup wait for answers that were given after it, so the operator sends these again.
      assert.deepEqual(await world.admin(stack, 'approval', 'resend'), { decisions: 2, wakes: 3 });
      for (const name of ['waiting', 'between']) {
        await approve(api, name);
        assert.equal(await endOf(api, name), 'succeed');
      }
      await answerTask(api, questions[1]);
      assert.equal(await endOf(api, 'asked'), 'succeed');
      for (const name of ['ahead', 'late and waiting']) assert.equal(await endOf(api, name), 'failed');
      assert.deepEqual(await booksOf(stack), {
        ...ending('Succeeded', 'done', 'late', ...ENDED),
        ...ending('Succeeded', 'waiting', 'between', 'asked'),
        ...ending('outcome_unknown', 'ahead'),
        // Temporal's backup does not contain this run.
        'late and waiting': 'execution_lost',
      });
      const operate = world.operate(stack.stack.temporal_address);
      await eventually(async () => (await countOpen(operate)) === 0, LONG);
    });
    assert.deepEqual([postsOf('posted').length, postsOf('second').length], [1, 1]);
    assert.equal(notesOf('approved'), 1);
    assert.equal(notesOf('waiting'), notes.waiting + 1);
    assert.equal(notesOf('between'), notes.between + 1);
    assert.equal(notesOf('late and waiting'), notes.late);
  });

  it('with a Postgres older than Temporal, once the open runs are terminated, does nothing twice either', async () => {
    const called = [postsOf('second').length, world.tools.calls.length, world.model.requests.length];
    const terminateAll = async (operate: Operate): Promise<void> => {
      const query = "WorkflowType = 'runGraph' AND ExecutionStatus = 'Running'";
      await operate('workflow', 'terminate', '--query', query, '--reason', 'restored', '--yes');
      await eventually(async () => (await countOpen(operate)) === 0, LONG);
    };
    const restored = { postgres: atA.postgres, temporal: atB.temporal };
    await world.restored(restored, checkOlderPostgres, terminateAll);
    assert.deepEqual([postsOf('second').length, world.tools.calls.length, world.model.requests.length], called);

    async function checkOlderPostgres(stack: TestStack): Promise<void> {
      const api = createApiClient(stack.apiUrl, stack.apiKey);
      for (const name of [...ENDED, 'ahead', 'waiting', 'between', 'asked']) {
        assert.equal(await endOf(api, name), 'failed');
      }
      assert.equal((await api.poll(ids['late']!)).data.status, 'not found');
      assert.deepEqual(await booksOf(stack), {
        done: 'Succeeded',
        ...ending('execution_lost', ...ENDED),
        ...ending('terminated', 'ahead', 'waiting', 'between', 'asked'),
      });
    }
  });

  it('with a Postgres older than Temporal and runs left open repeats calls without their input: so terminate them', async () => {
    assert.deepEqual(postsOf('second'), ['answer to /held/first']);
    await world.restored({ postgres: atA.postgres, temporal: atB.temporal }, async () => {
      await eventually(() => postsOf('second').length === 2, LONG);
    });
    assert.deepEqual(postsOf('second'), ['answer to /held/first', '']);
  });
});
