// Runs that resume other runs.
import { randomUUID } from 'node:crypto';
import type { Envelope } from '../../harness/client/api-client.js';
import {
  drawing,
  http,
  link,
  linkInRow,
  node,
  trigger,
  type DrawingNode,
  inRow,
} from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import type { Scenario, World } from './scenario.js';

/** A node whose call at `path` fails the first time. */
function mended({ target }: World, path = `/${randomUUID()}`, data: Record<string, unknown> = {}): DrawingNode {
  target.on(path, [{ status: 418 }, { body: 'ok' }]);
  return http(`${target.url}${path}`, data);
}

async function resume(world: World, workflowId: number, runId: string): Promise<string> {
  const path = `/workflows/${workflowId}/history/${runId}/resume/`;
  const { body } = await world.api.post<Envelope>(path, { body: {} });
  return world.ended(body.data.id);
}

/** Runs the nodes, which fail, and resumes the run. Returns the second run. */
async function failAndResume(world: World, nodes: DrawingNode[]): Promise<string> {
  const { runId, workflowId } = await world.start(nodes);
  return resume(world, workflowId, await world.ended(runId));
}

/**
 * The resumed run reuses a failure that was caught, both ways of a switch, items of a loop, and a node of the item that
 * failed.
 */
export function resumed(world: World): Promise<string> {
  const { url } = world.target;
  const fails = http(`${url}/status/418`, { on_error: 'continue' });
  const [left, right] = [http(`${url}/left`), http(`${url}/right`)];
  const cases = [left, right].map(({ id }, index) => ({
    id: `case-${index}`,
    condition: { left: '1', operator: '==', right: '1' },
    node: id,
  }));
  const choice = node('switch', { cases, mode: 'all' });
  const path = randomUUID();
  const item = mended(world, `/${path}/b`);
  const before = http(`${url}/before`);
  link(before, item);
  const each = node('for_each', { items: ['a', 'b', 'c', 'd'], body_node: before.id, concurrency: 1 });
  item.data['url'] = `${url}/${path}/{{ ${each.id}.item }}`;
  link(left, each);
  link(right, each);
  return failAndResume(world, [...inRow(fails, choice), left, right, each, before, item]);
}

/** One round of the loop fails once. */
function resumedRounds(world: World): Promise<string> {
  const path = randomUUID();
  const call = mended(world, `/${path}/1`);
  const rounds = node('loop', { body_node: call.id, max_rounds: 3, on_limit: 'continue' });
  rounds.data['until'] = { left: '1', operator: '==', right: '2' };
  call.data['url'] = `${world.target.url}/${path}/{{ ${rounds.id}.index }}`;
  return failAndResume(world, [...inRow(rounds), call]);
}

/** The run of the sub-workflow fails once, and is resumed with its parent. Returns both. */
async function resumedFamily(world: World): Promise<{ parentId: string; childId: string }> {
  const { api, stack } = world;
  const project = await api.createProject();
  const child = drawing(linkInRow([trigger(), node('set', { value: 1 }), mended(world)]));
  const call = node('workflow', { workflow_id: await api.createWorkflow(project, child) });
  const workflowId = await api.createWorkflow(project, drawing(inRow(call)));
  const { data } = await api.run(workflowId);
  const parentId = await resume(world, workflowId, await world.ended(data.id));
  const found = 'SELECT id FROM runs WHERE parent_run_id = $1';
  const [row] = await queryDatabase<{ id: string }>(stack, found, [parentId]);
  return { parentId, childId: row!.id };
}

export const scenariosResumed: Record<string, Scenario> = {
  resumed,
  'resumed-rounds': resumedRounds,
  'resumed-sub-workflow': async (world) => (await resumedFamily(world)).parentId,
  'resumed-sub-workflow-run': async (world) => (await resumedFamily(world)).childId,
};
