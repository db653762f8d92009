import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createDatabase } from '../../../db/core/client.js';
import { listRuns, type RunsQuery } from '../../../db/runs/runs-list-repository.js';
import type { ApiClient, RunRecord } from '../../../harness/client/api-client.js';
import {
  agent,
  chain,
  drawing,
  http,
  link,
  linkInRow,
  node,
  trigger,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { startToolServer, type ToolServer } from '../../../harness/target/tool-server.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { approvalsOf, approve, drawAgent, scriptModel } from '../../support/agents.js';
import { explainRead } from '../../support/explain.js';
import { seedRuns, seedWorkflows } from '../../support/seed-runs.js';
import { sharedStack } from '../../support/shared-stack.js';
import { startTokenProvider, type TokenProvider } from '../../support/token-provider.js';
import { callBack, callbackUrlOf, taskOf, untilWaiting } from '../../support/waiting.js';
import { createAccount, type Account } from '../accounts.js';
import type { FieldErrors, Page } from '../bodies.js';
import { oauthConnection, signIn } from '../connections/sign-in.js';

describe('what runs wait for', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let project: number;
  let target: HttpTarget;
  let tools: ToolServer;
  let provider: TokenProvider;
  const left: { workflow: number; run: string }[] = [];

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    ({ api } = account);
    project = await api.createProject();
    [target, tools, provider] = await Promise.all([startHttpTarget(), startToolServer(), startTokenProvider()]);
  });
  after(async () => {
    for (const { workflow, run } of left) await api.post(`/workflows/${workflow}/history/${run}/cancel/`);
    await Promise.all([target.close(), tools.close(), provider.close()]);
  });

  const start = async (data: object): Promise<{ workflow: number; run: string }> => {
    const workflow = await api.createWorkflow(project, data);
    const { status, data: started } = await api.run(workflow);
    assert.equal(status, 201, JSON.stringify(started));
    left.push({ workflow, run: started.id });
    return { workflow, run: started.id };
  };
  /**
   * Returns the run's `waiting_for` in the list of all runs, or undefined if the history or a read of the single run
   * shows another value.
   */
  const seen = async ({ workflow, run }: { workflow: number; run: string }): Promise<unknown> => {
    const of = async (path: string): Promise<unknown> =>
      (await api.get<Page<RunRecord>>(path)).body.items.find(({ id }) => id === run)?.waiting_for;
    const [all, history] = [await of(`/runs/?workflow=${workflow}`), await of(`/workflows/${workflow}/history/`)];
    const alone = [
      (await api.get<RunRecord>(`/runs/${run}/`)).body.waiting_for,
      (await api.history(workflow, run))['waiting_for'],
    ];
    return [history, ...alone].every((each) => each === all) ? all : undefined;
  };
  const waitsFor = (of: { workflow: number; run: string }, reason: string | null) =>
    eventually(async () => (await seen(of)) === reason, { timeoutMs: 40_000 });
  const wait = (): DrawingNode => node('wait', { mode: 'duration', seconds: 3600 });
  const callback = (): DrawingNode => node('wait', { mode: 'callback', timeout: 3600 });
  const human = (): DrawingNode => node('human', { message: 'Well?' });
  const row = (...nodes: DrawingNode[]) => drawing(linkInRow([trigger(), ...nodes]));
  const beside = (...nodes: DrawingNode[]) => {
    const begin = trigger();
    link(begin, nodes);
    return drawing([begin, ...nodes]);
  };

  it('a time, a callback and a person, one after the other, and nothing once it has ended', async () => {
    const [first, second] = [callback(), human()];
    const of = await start(row(first, second));
    await waitsFor(of, 'callback');
    await callBack(await callbackUrlOf(api, of.run, first.id));
    await waitsFor(of, 'human');
    const task = await taskOf(api, of.run, second.id);
    assert.equal((await api.post(`/human-tasks/${task}/answer/`, { body: { action: 'done' } })).status, 200);
    await api.pollToEnd(of.run);
    assert.equal(await seen(of), null);
    await waitsFor(await start(row(wait())), 'time');
    const cancelled = await start(row(human()));
    await waitsFor(cancelled, 'human');
    await api.post(`/workflows/${cancelled.workflow}/history/${cancelled.run}/cancel/`);
    await waitsFor(cancelled, null);
  });

  it('the pause between two attempts is a time', async () => {
    const path = `/later-${randomUUID()}`;
    target.on(path, [{ status: 503, headers: { 'retry-after': '3000' } }, { body: 'fine' }]);
    await waitsFor(await start(row(http(`${target.url}${path}`))), 'time');
  });

  it('nothing while a node is in flight; of several waits, a person comes before a callback or a time', async () => {
    const name = `/hold/${randomUUID()}`;
    const [asked, called] = [human(), http(`${target.url}${name}`)];
    const of = await start(beside(asked, wait(), callback(), called));
    await untilWaiting(api, of.run, asked.id);
    await eventually(() => target.requestsTo(name).length > 0);
    assert.equal(await seen(of), null);
    assert.equal((await api.get<Page<RunRecord>>(`/runs/?workflow=${of.workflow}&waiting=true`)).body.total, 0);
    target.release(name);
    await waitsFor(of, 'human');
    const task = await taskOf(api, of.run, asked.id);
    await api.post(`/human-tasks/${task}/answer/`, { body: { action: 'done' } });
    await waitsFor(of, 'callback');
  });

  it('an approval, then the run that an agent has started, then nothing', async () => {
    const inner = callback();
    const below = await api.createWorkflow(project, row(inner), 'Below');
    const calls = [{ name: 'add', arguments: { a: 1, b: 2 } }];
    const name = 'start_below';
    const model = scriptModel(stack, [
      { toolCalls: calls },
      { toolCalls: [{ name, arguments: {} }] },
      { text: 'done' },
    ]);
    const servers = [
      { endpoint_url: tools.url, require_approval: 'always' },
      { type: 'workflow', workflow_id: below, name, require_approval: 'never' },
    ];
    const worker = agent('Work', { model_name: model }, servers);
    const of = await start(row(worker));
    await waitsFor(of, 'approval');
    await approve(api, of.run, worker.id);
    await waitsFor(of, 'child');
    const [child] = (await api.get<Page<RunRecord>>(`/runs/?workflow=${below}`)).body.items;
    await waitsFor({ workflow: below, run: child!.id }, 'callback');
    await callBack(await callbackUrlOf(api, child!.id, inner.id));
    assert.equal((await api.pollToEnd(of.run)).data.status, 'succeed');
    assert.equal(await seen(of), null);
  });

  it('a sub-workflow is a child, whatever that waits for', async () => {
    const below = await api.createWorkflow(project, row(human()), 'Below');
    const of = await start(row(node('workflow', { workflow_id: below })));
    await waitsFor(of, 'child');
  });

  it('a connection that nobody has signed in for', async () => {
    const id = await oauthConnection(account, project, provider, `connection ${randomUUID()}`);
    const of = await start(row(http(`${provider.url}/list`, { connection: id })));
    await waitsFor(of, 'connection');
    assert.equal((await api.get<Page<RunRecord>>(`/runs/?workflow=${of.workflow}&waiting=true`)).body.total, 1);
    await signIn(stack, account, { projectId: project, id });
    await api.pollToEnd(of.run);
    assert.equal(await seen(of), null);
  });

  it('the nodes of loops count, in iterations that are open, at any depth', async () => {
    const asked = human();
    const inner = node('for_each', { items: [1, 2], body_node: asked.id, concurrency: 2 });
    const outer = node('for_each', { items: [1, 2], body_node: inner.id, concurrency: 2 });
    const of = await start(drawing([...linkInRow([trigger(), outer]), inner, asked]));
    await waitsFor(of, 'human');
    for (let answered = 0; answered < 4; answered += 1) {
      const task = await eventually(async () => {
        const { body } = await api.get<Page<{ id: string; run_id: string }>>('/human-tasks/?status=pending');
        return body.items.find(({ run_id: run }) => run === of.run);
      });
      const { status } = await api.post(`/human-tasks/${task.id}/answer/`, { body: { action: 'done' } });
      assert.equal(status, 200);
      if (answered < 3) await waitsFor(of, 'human');
    }
    assert.equal((await api.pollToEnd(of.run)).data.status, 'succeed');
    assert.equal(await seen(of), null);
  });

  it('?waiting=true lists those that wait for people, filtered, ordered and counted like all', async () => {
    const own = await createAccount(stack);
    const [one, two] = [await own.api.createProject(), await own.api.createProject()];
    const { data, node: approving } = drawAgent(scriptModel(stack, [{ toolCalls: [{ name: 'add', arguments: {} }] }]), {
      server: { endpoint_url: tools.url, require_approval: 'always' },
    });
    const workflows = [
      await own.api.createWorkflow(one, row(human()), 'asks'),
      await own.api.createWorkflow(two, data, 'approves'),
      await own.api.createWorkflow(one, row(wait()), 'waits'),
      await own.api.createWorkflow(one, chain(1), 'ends'),
    ];
    const runs: string[] = [];
    for (const index of [0, 1, 2, 3, 0]) runs.push((await own.api.run(workflows[index]!)).data.id);
    await approvalsOf(own.api, runs[1]!, approving.id);
    const list = async (query: string): Promise<[number, number[]]> => {
      const { status, body } = await own.api.get<Page<RunRecord>>(`/runs/${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      return [body.total, body.items.map(({ id }) => runs.indexOf(id))];
    };
    await eventually(async () => (await list('?waiting=true'))[0] === 3);
    assert.deepEqual(await list('?waiting=true'), [3, [4, 1, 0]]);
    assert.deepEqual(await list('?waiting=true&ordering=created_at'), [3, [0, 1, 4]]);
    assert.deepEqual(await list('?waiting=true&page=2&size=2'), [3, [0]]);
    assert.deepEqual(await list('?waiting=true&page=3&size=2'), [3, []]);
    assert.deepEqual(await list(`?waiting=true&project=${two}`), [1, [1]]);
    assert.deepEqual(await list(`?waiting=true&workflow=${workflows[0]}`), [2, [4, 0]]);
    assert.deepEqual(await list('?waiting=true&search=APPR'), [1, [1]]);
    assert.deepEqual(await list('?waiting=true&status=Succeeded'), [0, []]);
    assert.deepEqual(await list('?waiting=true&purpose=test'), [0, []]);
    assert.deepEqual(await list('?waiting=true&started_before=2020-01-01'), [0, []]);
    assert.equal((await list('?waiting=false'))[0], 5);
    const refused = await own.api.get<FieldErrors>('/runs/?waiting=maybe');
    assert.deepEqual([refused.status, refused.body], [400, { waiting: ['Must be a valid boolean.'] }]);
    const stranger = await createAccount(stack);
    assert.equal((await stranger.api.get<Page<RunRecord>>('/runs/?waiting=true')).body.total, 0);
    for (const [index, run] of runs.entries()) {
      if (index !== 3) await own.api.post(`/workflows/${workflows[[0, 1, 2, 3, 0][index]!]}/history/${run}/cancel/`);
    }
    await eventually(async () => (await list('?waiting=true'))[0] === 0);
  });

  it('a page of ended runs needs no further statement, and ?waiting=true begins at the open requests', async () => {
    const { database_url: url } = stack.stack;
    const db = createDatabase({ url, poolMax: 1, applicationName: 'test', onError: () => undefined });
    try {
      const { userId } = account;
      const own = await api.createProject();
      await seedRuns(db, {
        userId,
        workflowIds: await seedWorkflows(db, { projectId: own, userId, count: 20 }),
        runs: 5000,
      });
      const query: RunsQuery = {
        reach: { userId, projectId: own },
        projectId: undefined,
        workflowId: undefined,
        status: undefined,
        search: undefined,
        startedFrom: undefined,
        startedBefore: undefined,
        purpose: 'run',
        isWaiting: false,
        ordering: '-created_at',
        limit: 50,
        offset: 0,
      };
      const { runs } = await listRuns(db, query);
      assert.deepEqual([runs.length, new Set(runs.map((run) => run.waiting_for))], [50, new Set([null])]);
      const ended = await explainRead(url, (reader) => listRuns(reader, query));
      assert.ok(ended.length > 0 && ended.every(({ sql }) => !sql.includes('run_waits_for')));
      // Sequential scans are disabled, because the plan of an almost empty table depends on when its statistics were
      // taken.
      const indexed = new URL(url);
      indexed.searchParams.set('options', '-c enable_seqscan=off');
      const explained = await explainRead(indexed.href, (reader) => listRuns(reader, { ...query, isWaiting: true }));
      const plan = explained.flatMap((statement) => statement.plan).join('\n');
      assert.match(plan, /human_tasks_pending/);
      assert.match(plan, /approval_requests_pending/);
      assert.doesNotMatch(plan, /Seq Scan on (runs|waits|human_tasks|approval_requests)/);
    } finally {
      await db.destroy();
    }
  });
});
