// The nodes of a run use the connections of its project, whatever has started the run.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import {
  agent,
  drawing,
  http,
  linkInRow,
  mcp,
  node,
  trigger,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import { startFakeMcpServer, type FakeMcpServer } from '../../support/fake-mcp-server.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, type Account } from '../accounts.js';
import { deliverTo, makeStartHook } from '../hooks/hook-sender.js';
import { inTemporal, makeSchedule, untilFired } from '../schedules/schedule-maker.js';
import { call, connectOfficial, offer, runOf } from '../mcp-server/mcp-clients.js';
import { createConnection } from './sign-in.js';

describe('runs of every origin use connections', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let target: HttpTarget;
  let servers: FakeMcpServer;
  let projectId: number;

  before(async () => {
    stack = await sharedStack();
    [account, target, servers] = await Promise.all([createAccount(stack), startHttpTarget(), startFakeMcpServer()]);
    projectId = await account.api.createProject();
  });
  after(() => Promise.all([target.close(), servers.close()]));

  /** Creates a connection whose token contains its name. */
  const named = (name: string) =>
    createConnection(account, projectId, {
      name,
      kind: 'bearer',
      origins: [target.url, servers.origin],
      secrets: { token: `token-of-${name}` },
    });
  const caller = async (name: string, data: object = {}): Promise<DrawingNode> =>
    http(`${target.url}/${name}`, { connection: await named(name), ...data });
  const workflowOf = (...nodes: DrawingNode[]) =>
    account.api.createWorkflow(projectId, drawing(linkInRow([trigger(), ...nodes])));
  const sentTo = (name: string) => target.requestsTo(`/${name}`).map(({ headers }) => headers.authorization);
  const tokenOf = (name: string) => [`Bearer token-of-${name}`];
  async function runToEnd(workflowId: number): Promise<string> {
    const { status, data } = await account.api.run(workflowId);
    assert.equal(status, 201, JSON.stringify(data));
    assert.equal((await account.api.pollToEnd(data.id)).data.status, 'succeed');
    return data.id;
  }

  it('a workflow that another one runs', async () => {
    const child = await workflowOf(await caller('child'));
    await runToEnd(await workflowOf(node('workflow', { workflow_id: child })));
    assert.deepEqual(sentTo('child'), tokenOf('child'));
  });

  it('a run that resumes another one, with the present secret of the connection', async () => {
    const calling = await caller('resumed');
    const connection = calling.data['connection'] as number;
    target.on('/resumed', [{ status: 418 }, { body: 'ok' }]);
    const workflowId = await workflowOf(calling);
    const { data } = await account.api.run(workflowId);
    assert.equal((await account.api.pollToEnd(data.id)).data.status, 'failed');
    const body = { secrets: { token: 'a-new-token' } };
    const changed = await account.api.patch(`/projects/${projectId}/connections/${connection}/`, { body });
    assert.equal(changed.status, 200);
    const path = `/workflows/${workflowId}/history/${data.id}/resume/`;
    const resumed = await account.api.post<{ data: { id: string } }>(path, { body: {} });
    assert.equal((await account.api.pollToEnd(resumed.body.data.id)).data.status, 'succeed');
    assert.deepEqual(sentTo('resumed'), [...tokenOf('resumed'), 'Bearer a-new-token']);
  });

  it('a run that a hook starts', async () => {
    const hook = await makeStartHook(account.api, await workflowOf(await caller('hooked')));
    const { status, body } = await deliverTo(hook.url);
    assert.equal(status, 202);
    assert.equal((await account.api.pollToEnd(body.id)).data.status, 'succeed');
    assert.deepEqual(sentTo('hooked'), tokenOf('hooked'));
  });

  it('a run that a schedule starts', async () => {
    const workflowId = await workflowOf(await caller('scheduled'));
    const schedule = await makeSchedule(account.api, workflowId);
    await inTemporal(stack, schedule.id, (handle) => handle.trigger(ScheduleOverlapPolicy.ALLOW_ALL));
    const [fired] = await untilFired(stack, schedule, workflowId, 1);
    assert.equal((await account.api.pollToEnd(fired!.run_id)).data.status, 'succeed');
    assert.deepEqual(sentTo('scheduled'), tokenOf('scheduled'));
  });

  it('a workflow that an MCP client calls as a tool', async () => {
    const data = drawing(linkInRow([trigger(), await caller('offered')]));
    const { id, name } = await offer(account.api, projectId, data);
    const client = await connectOfficial(stack.apiUrl, account.apiKey);
    try {
      const result = await call(client, name);
      assert.equal((await account.api.history(id, runOf(result))).status, 'Succeeded');
      assert.deepEqual(sentTo('offered'), tokenOf('offered'));
    } finally {
      await client.client.close();
    }
  });

  it('an MCP node, and the tools of an agent: MCP servers and workflows', async () => {
    const server = servers.endpoint();
    const connection = await named('mcp');
    const child = await workflowOf(await caller('tool'));
    const model = `connections-${randomUUID()}`;
    stack.modelProvider.script(model, [
      { toolCalls: [{ name: 'echo', arguments: { a: 1 } }] },
      { toolCalls: [{ name: 'below', arguments: {} }] },
      { text: 'done' },
    ]);
    const workflowTool = { type: 'workflow', workflow_id: child, name: 'below', require_approval: 'never' };
    const asking = agent('work', { model_name: model }, []);
    asking.data['tools'] = [
      {
        type: 'mcp',
        server_label: 'tools',
        endpoint_url: server.url,
        transport: 'streamable_http',
        connection,
        require_approval: 'never',
      },
      workflowTool,
    ];
    const calling = mcp(server.url, 'echo', {}, { connection, transport: 'streamable_http' });
    await runToEnd(await workflowOf(calling, asking));
    const tokens = server.requests.map(({ headers }) => headers.authorization);
    assert.deepEqual([...new Set(tokens)], tokenOf('mcp'));
    assert.equal(server.methods().filter((method) => method === 'tools/call').length, 2);
    assert.deepEqual(sentTo('tool'), tokenOf('tool'));
  });
});
