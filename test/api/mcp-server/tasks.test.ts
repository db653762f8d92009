// Calls tools of `/mcp` as MCP tasks with the official client (docs/use/mcp.md).
import assert from 'node:assert/strict';
import { CallToolResultSchema, type McpError, type Task } from '@modelcontextprotocol/sdk/types.js';
import { drawing, http, linkInRow, node as nodeOf, resultOf, trigger } from '../../../harness/drawing/drawing.js';
import type { DrawingNode } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { callBack, callbackUrlOf, taskOf } from '../../support/waiting.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import {
  call,
  connectBare,
  connectOfficial,
  INITIALIZE,
  messagesIn,
  offer,
  postBare,
  runOf,
  textOf,
  type CallToolResult,
  type OfficialClient,
} from './mcp-clients.js';

const RELATED = 'io.modelcontextprotocol/related-task';
const PATIENT = { timeout: 60_000 };

describe('calls of workflows as tasks', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let project: number;
  let official: OfficialClient;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    project = await account.api.createProject();
    official = await connectOfficial(stack.apiUrl, account.apiKey);
  });
  after(() => official.client.close());

  const offered = (nodes: DrawingNode[]) => offer(account.api, project, drawing(linkInRow([trigger(), ...nodes])));
  const waiting = (): [DrawingNode, DrawingNode] => {
    const wait = nodeOf('wait', { mode: 'callback' });
    return [wait, nodeOf('output', { value: { said: resultOf(wait) } })];
  };

  /** Starts a task, and stops reading its stream. */
  async function begin(name: string, { client } = official): Promise<Task> {
    const stream = client.experimental.tasks.callToolStream({ name, arguments: {} }, undefined, {
      ...PATIENT,
      task: {},
    });
    for await (const message of stream) if (message.type === 'taskCreated') return message.task;
    throw new Error('no task was created');
  }
  const resultOfTask = async (taskId: string): Promise<CallToolResult> =>
    official.client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema, PATIENT);

  it('the official client begins a task, whose id is the run, and waits for its result', async () => {
    const [wait, output] = waiting();
    const { name, id } = await offered([wait, output]);
    const task = await begin(name);
    assert.equal(task.status, 'working');
    assert.equal((await account.api.history(id, task.taskId)).status, 'In Progress');
    const result = resultOfTask(task.taskId);
    await callBack(await callbackUrlOf(account.api, task.taskId, wait.id), 'hello');
    assert.deepEqual((await result).structuredContent, { said: 'hello' });
    assert.deepEqual((await result)['_meta'], { run_id: task.taskId, [RELATED]: { taskId: task.taskId } });
    const { tasks } = official.client.experimental;
    const ended = await tasks.getTask(task.taskId);
    assert.deepEqual([ended.status, ended.ttl], ['completed', 30 * 86_400_000]);
    assert.deepEqual((await resultOfTask(task.taskId)).structuredContent, { said: 'hello' });
    await assert.rejects(tasks.cancelTask(task.taskId), (error: McpError) => error.code === -32602);
  });

  it('has the status input_required and the question while the run waits for a person', async () => {
    const human = nodeOf('human', { message: 'Shall I?', actions: [{ id: 'yes', label: 'Yes' }] });
    const { name } = await offered([human]);
    const { taskId } = await begin(name);
    const asked = await taskOf(account.api, taskId, human.id);
    const task = await official.client.experimental.tasks.getTask(taskId);
    assert.equal(task.status, 'input_required');
    assert.match(task.statusMessage!, new RegExp(`^Shall I\\?\\n\\nAnswer here: http\\S+/inbox/${asked} `));
    const told = await call(official, 'get_run', { run_id: taskId });
    assert.match(
      textOf(told),
      new RegExp(`^The run ${taskId} has not ended yet\\. It waits for a person:\\n\\nShall I`),
    );
    assert.equal(told.isError, undefined);
    await account.api.post(`/human-tasks/${asked}/answer/`, { body: { action: 'yes' } });
    assert.equal(textOf(await resultOfTask(taskId)), 'yes');
  });

  it('a task that fails has failed, and its result says why', async () => {
    const { name } = await offered([http(`${stack.apiUrl}/nowhere`)]);
    const { taskId } = await begin(name);
    const result = await resultOfTask(taskId);
    assert.deepEqual([result.isError, textOf(result).slice(0, 28)], [true, 'The run failed: http_status:']);
    const task = await official.client.experimental.tasks.getTask(taskId);
    assert.deepEqual([task.status, task.statusMessage?.slice(0, 12)], ['failed', 'http_status:']);
  });

  it('cancels the run of a task', async () => {
    const { name, id } = await offered(waiting());
    const { taskId } = await begin(name);
    assert.equal((await official.client.experimental.tasks.cancelTask(taskId)).status, 'cancelled');
    assert.equal(textOf(await resultOfTask(taskId)), 'The run was cancelled.');
    assert.equal((await account.api.history(id, taskId)).status, 'Cancelled');
  });

  it('lists what its user has begun as tasks, newest first, page by page', async () => {
    const other = await createAccount(stack);
    await giveRole(stack, other, project, 'editor');
    const { name } = await offered([nodeOf('output', { value: 1 })]);
    const theirs = await connectOfficial(stack.apiUrl, other.apiKey);
    try {
      const begun: string[] = [];
      for (let count = 0; count < 22; count += 1) begun.unshift((await begin(name, theirs)).taskId);
      const plain = runOf(await call(theirs, name));
      const { tasks } = theirs.client.experimental;
      const first = await tasks.listTasks();
      const second = await tasks.listTasks(first.nextCursor);
      assert.deepEqual(
        [...first.tasks, ...second.tasks].map(({ taskId }) => taskId),
        begun,
      );
      assert.deepEqual([first.tasks.length, second.nextCursor], [20, undefined]);
      assert.equal(
        (await tasks.getTask(plain)).status,
        'completed',
        'a call without a task is one for who knows its run',
      );
    } finally {
      await theirs.client.close();
    }
  });

  it('is visible to its user alone; other members can read its run by get_run, and strangers nothing', async () => {
    const { name } = await offered(waiting());
    const { taskId } = await begin(name);
    const editor = await createAccount(stack);
    await giveRole(stack, editor, project, 'editor');
    const bare = await connectBare(stack.apiUrl, editor.apiKey);
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      for (const params of [{ taskId }, { taskId: 'x' }, {}]) {
        const { body } = await bare.request(1, method, params);
        assert.deepEqual(body.error, { code: -32602, message: 'There is no such task of this user.' }, method);
      }
    }
    assert.deepEqual((await bare.request(1, 'tasks/list')).body.result, { tasks: [] });
    assert.equal((await bare.request(1, 'tasks/list', { cursor: 'x' })).body.error?.code, -32602);
    const { text } = await bare.request(2, 'tools/call', { name: 'get_run', arguments: { run_id: taskId } });
    assert.match(text, /has not ended yet/);
    const stranger = await connectBare(stack.apiUrl, (await createAccount(stack)).apiKey);
    for (const runId of [taskId, 'x', undefined]) {
      const { body } = await stranger.request(3, 'tools/call', { name: 'get_run', arguments: { run_id: runId } });
      assert.equal(body.result?.['isError'], true);
    }
    await official.client.experimental.tasks.cancelTask(taskId);
  });

  it('a client that loses its connection can resume the stream of tasks/result', async () => {
    const { name } = await offered([nodeOf('output', { value: 'done' })]);
    const { taskId } = await begin(name);
    await resultOfTask(taskId);
    const bare = await connectBare(stack.apiUrl, account.apiKey);
    const { text } = await bare.request('r', 'tasks/result', { taskId });
    const first = /^id: (\S+)$/m.exec(text)![1]!;
    const again = await fetch(`${stack.apiUrl}/mcp`, {
      headers: { ...bare.headers, accept: 'text/event-stream', 'last-event-id': first },
    });
    assert.deepEqual(messagesIn(await again.text()).at(-1), messagesIn(text).at(-1));
  });

  it('is offered to clients of a version that has tasks, and to no others', async () => {
    const { name } = await offered([nodeOf('output', { value: 1 })]);
    const begun = async (protocolVersion: string) => {
      const message = { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion } };
      const { body } = await postBare(stack.apiUrl, message, { authorization: `Bearer ${account.apiKey}` });
      return body.result!['capabilities'];
    };
    const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
    assert.deepEqual(await begun('2025-11-25'), { tools: {}, tasks });
    for (const version of ['2025-06-18', '2024-11-05']) assert.deepEqual(await begun(version), { tools: {} });
    const old = await connectBare(stack.apiUrl, account.apiKey, '2025-06-18');
    const listed = (await old.request(1, 'tools/list')).body.result!['tools'] as {
      name: string;
      execution?: unknown;
    }[];
    assert.ok(listed.every(({ execution }) => execution === undefined));
    assert.equal((await old.request(2, 'tasks/list')).body.error?.code, -32601);
    const { text } = await old.request(3, 'tools/call', { name, arguments: {}, task: {} });
    assert.equal((messagesIn(text).at(-1)!['result'] as { content: unknown[] }).content.length, 1);
    const present = await connectBare(stack.apiUrl, account.apiKey);
    const refused = await present.request(4, 'tools/call', { name: 'get_run', arguments: {}, task: {} });
    assert.equal(refused.body.error?.code, -32601);
  });

  it('get_run gives the result of a run that has ended, and no workflow has its name', async () => {
    const { name } = await offer(
      account.api,
      project,
      drawing(linkInRow([trigger(), nodeOf('output', { value: { n: 1 } })])),
      'get run',
    );
    assert.match(name, /^get_run_\d+$/);
    const { tools } = await official.client.listTools();
    assert.equal(tools.filter((tool) => tool.name === 'get_run').length, 1);
    const runId = runOf(await call(official, name));
    const result = await call(official, 'get_run', { run_id: runId });
    assert.deepEqual([result.structuredContent, result['_meta']], [{ n: 1 }, { run_id: runId }]);
  });
});
