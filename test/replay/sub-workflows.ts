// Runs that start runs of other workflows.
import { drawing, linkInRow, node, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { queryDatabase, reset } from '../support/inspect.js';
import { callBack, callbackUrlOf } from '../support/waiting.js';
import { DONE, type World } from './scenario.js';
import { eventually } from '../../harness/timing/eventually.js';

const inRow = (...nodes: DrawingNode[]): object => drawing(linkInRow([trigger(), ...nodes]));

interface Family {
  parentId: string;
  childId: string;
}

/** Runs a workflow that starts a run of these nodes. If it waits for that run, it continues for a second afterwards. */
async function family({ api, stack }: World, child: DrawingNode[], wait = true): Promise<Family> {
  const project = await api.createProject();
  const workflow = await api.createWorkflow(project, inRow(...child));
  const call = node('workflow', { workflow_id: workflow, wait });
  const pause = node('wait', { seconds: 1 });
  const { data } = await api.run(await api.createWorkflow(project, inRow(call, ...(wait ? [pause] : []))));
  await api.pollToEnd(data.id);
  const found = 'SELECT id FROM runs WHERE parent_run_id = $1';
  const [row] = await queryDatabase<{ id: string }>(stack, found, [data.id]);
  return { parentId: data.id, childId: row!.id };
}

export async function parentOf(world: World): Promise<string> {
  return (await family(world, [node('set', { value: 'done' })])).parentId;
}

/** Returns the child run, which loads its plan by an activity. */
export async function childRun(world: World): Promise<string> {
  return (await family(world, [node('set', { value: 'done' })])).childId;
}

/** An operator resets the parent while its child run is open, so the parent starts the same run again. */
export async function startedTwice(world: World): Promise<string> {
  const pause = node('wait', { mode: 'callback' });
  const { parentId, childId } = await family(world, [pause], false);
  await reset(world.stack, parentId);
  await callBack(await callbackUrlOf(world.api, childId, pause.id), 'done');
  await world.ended(childId);
  return parentId;
}

/**
 * An agent calls a workflow twice at once, in the graph that `draw` makes around it. Both runs wait for a callback. The
 * callbacks are called one after the other once `ready` resolves.
 */
export async function agentWithRuns(
  world: World,
  model: string,
  draw: (agent: DrawingNode) => DrawingNode[],
  ready: (runId: string) => Promise<unknown> = () => Promise.resolve(),
): Promise<string> {
  const { api, stack } = world;
  const project = await api.createProject();
  const pause = node('wait', { mode: 'callback' });
  const call = { name: 'ask', arguments: {} };
  stack.modelProvider.script(model, [{ toolCalls: [call, call] }, DONE]);
  const agent = node('agent', {
    messages: [{ role: 'user', message: 'Ask' }],
    settings: { model_name: model },
    tools: [
      {
        type: 'workflow',
        workflow_id: await api.createWorkflow(project, inRow(pause)),
        name: 'ask',
        require_approval: 'never',
      },
    ],
  });
  const { data } = await api.run(await api.createWorkflow(project, drawing(draw(agent))));
  const runs = await eventually(
    async () => {
      const text = 'SELECT id FROM runs WHERE parent_run_id = $1 ORDER BY created_at';
      const rows = await queryDatabase<{ id: string }>(stack, text, [data.id]);
      return rows.length === 2 && rows;
    },
    { timeoutMs: 30_000 },
  );
  await ready(data.id);
  for (const { id } of runs) {
    await callBack(await callbackUrlOf(api, id, pause.id), 'done');
    await world.ended(id);
  }
  return world.ended(data.id);
}
