// Runs that start runs of other workflows.
import { drawing, linkInRow, node, trigger, type DrawingNode } from '../support/graphs.js';
import { queryDatabase, reset } from '../support/inspect.js';
import { callBack, callbackUrlOf } from '../support/waiting.js';
import type { World } from './scenario.js';

const inRow = (...nodes: DrawingNode[]): object => drawing(linkInRow([trigger(), ...nodes]));

interface Family {
  parentId: string;
  childId: string;
}

/** A run that starts a run of these nodes; if it waits for that, it goes on for a second. */
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

/** It loads its plan. */
export async function childRun(world: World): Promise<string> {
  return (await family(world, [node('set', { value: 'done' })])).childId;
}

/** Its run is under way when an operator resets it: it starts that run once more. */
export async function startedTwice(world: World): Promise<string> {
  const pause = node('wait', { mode: 'callback' });
  const { parentId, childId } = await family(world, [pause], false);
  await reset(world.stack, parentId);
  await callBack(await callbackUrlOf(world.api, childId, pause.id), 'done');
  await world.ended(childId);
  return parentId;
}
