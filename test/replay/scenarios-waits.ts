// Runs whose nodes wait.
import { createAccount } from '../api/accounts.js';
import { createConnection, signIn } from '../api/connections/sign-in.js';
import type { Envelope } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  drawing,
  http,
  link,
  node as nodeOf,
  type DrawingNode,
  inRow,
  sideBySide,
} from '../../harness/drawing/drawing.js';
import { startTokenProvider } from '../support/token-provider.js';
import { callBack, callbackUrlOf, taskOf } from '../support/waiting.js';
import { ADDS, DONE, type Scenario, type World } from './scenario.js';

/** There are more waits than the progress of a run lists. One of them waits for a time in the past. */
function waitingForTime(): DrawingNode[] {
  const pauses = Array.from({ length: 22 }, () => nodeOf('wait', { seconds: 1 }));
  const past = nodeOf('wait', { mode: 'until', until: '2020-01-01' });
  return sideBySide(...pauses, past);
}

/** The run receives a wake signal before there is an answer. */
async function waitingForCallback(world: World): Promise<string> {
  const pause = nodeOf('wait', { mode: 'callback' });
  const { runId } = await world.start(inRow(pause));
  const url = await callbackUrlOf(world.api, runId, pause.id);
  await world.temporal((client) => client.workflow.getHandle(runId).signal('wake', { path: '', nodeId: pause.id }));
  await world.inPhase(runId, 'running');
  await callBack(url, 'done');
  return world.ended(runId);
}

/** After their time-outs, one wait continues with its `timeout_node`, the other one by `on_error`. */
function waitTimedOut(world: World): DrawingNode[] {
  const [instead, after] = [http(`${world.target.url}/instead`), http(`${world.target.url}/after`)];
  const left = nodeOf('wait', { mode: 'callback', timeout: 1, timeout_node: instead.id });
  const right = nodeOf('wait', { mode: 'callback', timeout: 1, on_error: 'continue' });
  link(right, after);
  return [...sideBySide(left, right), instead, after];
}

/** One task is answered beside a wait for a time, the other one times out. */
async function humanTasks(world: World): Promise<string> {
  const [yes, instead] = [http(`${world.target.url}/yes`), http(`${world.target.url}/instead`)];
  const asked = nodeOf('human', { message: 'Well?', actions: [{ id: 'no' }, { id: 'yes', node: yes.id }] });
  const late = nodeOf('human', { message: 'Well?', timeout: 1, timeout_node: instead.id });
  const { runId } = await world.start([...sideBySide(asked, late, nodeOf('wait', { seconds: 3 })), yes, instead]);
  const id = await taskOf(world.api, runId, asked.id);
  await world.api.post(`/human-tasks/${id}/answer/`, { body: { action: 'yes' } });
  return world.ended(runId);
}

/** An HTTP node and an agent wait until somebody signs in for the connection that they use. */
async function waitingForConnection(world: World): Promise<string> {
  const account = await createAccount(world.stack);
  const provider = await startTokenProvider();
  try {
    const projectId = await account.api.createProject();
    const body = { kind: 'oauth2', settings: provider.settings, secrets: { client_secret: provider.clientSecret } };
    const origins = [provider.url, new URL(world.tools.url).origin];
    const connection = await createConnection(account, projectId, { name: 'provider', origins, ...body });
    const call = http(`${provider.url}/work`, { connection });
    const helper = world.agent([ADDS, DONE], 'never');
    for (const tool of helper.data['tools'] as Record<string, unknown>[]) tool['connection'] = connection;
    const nodes = sideBySide(call, helper);
    const workflowId = await account.api.createWorkflow(projectId, drawing(nodes));
    const { data: started } = await account.api.run(workflowId);
    await eventually(
      async () => {
        const { data } = (await account.api.poll(started.id)).data;
        return [call, helper].every(({ id }) => data?.[id] !== undefined && 'waiting' in data[id]);
      },
      { timeoutMs: 30_000 },
    );
    await signIn(world.stack, account, { projectId, id: connection });
    await account.api.pollToEnd(started.id, { timeoutMs: 60_000 });
    return started.id;
  } finally {
    await provider.close();
  }
}

/** A test run: an agent and a loop have fixed results, and a body is executed in one iteration. */
async function tested(world: World): Promise<string> {
  const call = http(`${world.target.url}/tested`);
  const loop = nodeOf('for_each', { items: '["a","b","c"]', body_node: call.id });
  const [helper, before] = [world.agent([], 'never'), http(`${world.target.url}/before`)];
  const rounds = nodeOf('loop', {
    max_rounds: 2,
    body_node: before.id,
    until: { left: '1', operator: '==', right: '2' },
  });
  const workflowId = await world.api.createWorkflow(
    await world.api.createProject(),
    drawing([...inRow(helper, rounds, loop), call, before]),
  );
  const mocks = { [helper.id]: { content: 'said' }, [rounds.id]: { content: 'turned' } };
  const body = { mode: 'up_to', node: call.id, path: `${loop.id}[1]`, mocks };
  const answer = await world.api.post<Envelope>(`/workflows/${workflowId}/test/`, { body });
  return world.ended(answer.body.data.id);
}

export const scenariosOfWaits: Record<string, Scenario> = {
  'wait-time': (world) => world.runToEnd(waitingForTime()),
  'wait-callback': waitingForCallback,
  'wait-timed-out': (world) => world.runToEnd(waitTimedOut(world)),
  human: humanTasks,
  connection: waitingForConnection,
  tested,
};
