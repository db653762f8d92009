// Runs whose nodes are executed by workers of several pools.
import { setTimeout as pause } from 'node:timers/promises';
import {
  drawing,
  http,
  inRow,
  link,
  node as nodeOf,
  sideBySide,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { eventually } from '../../harness/timing/eventually.js';
import { queryDatabase } from '../support/inspect.js';
import { startWorkerProcess } from '../../harness/stack/worker-process.js';
import { ADDS, DONE, NOTES, type Scenario, type World } from './scenario.js';

interface Pools {
  pool?: string;
  pools?: string[];
}

/** Workers cache the pools of a project for 2 s, so a change has taken effect after this time. */
const WORKERS_KNOW_MS = 2_500;

async function setPools({ stack }: World, projectId: number, { pool, pools = [] }: Pools): Promise<void> {
  await queryDatabase(stack, 'UPDATE projects SET pool = $2, pools = $3 WHERE id = $1', [projectId, pool, pools]);
}

async function start(world: World, pools: Pools, nodes: DrawingNode[], settings = {}) {
  const projectId = await world.api.createProject();
  await setPools(world, projectId, pools);
  const workflowId = await world.api.createWorkflow(projectId, { ...drawing(nodes), settings });
  return { projectId, runId: (await world.api.run(workflowId)).data.id };
}

async function withFarWorker(world: World, work: () => Promise<string>): Promise<string> {
  const worker = await startWorkerProcess(world.stack, { env: { WORKER_POOL: 'far' } });
  try {
    return await work();
  } finally {
    await worker.stop();
  }
}

const far = (url: string): DrawingNode => http(url, { settings: { pool: 'far' } });

/**
 * Two nodes of another pool start together, and a third one follows both. Two more nodes of that pool follow nodes of
 * the default pool, which also executes the last node.
 */
function acrossPools(world: World): Promise<string> {
  const { url } = world.target;
  const [one, two, third] = [far(`${url}/one`), far(`${url}/two`), far(`${url}/third`)];
  for (const node of [one, two]) link(node, third);
  const [quick, slow] = [http(`${url}/quick`), http(`${url}/delay/1500/slow`)];
  const [late, join] = [far(`${url}/late`), far(`${url}/join`)];
  link(quick, join);
  link(slow, late);
  link(late, join);
  const last = http(`${url}/last`, { settings: { pool: 'default' } });
  const chosen = nodeOf('set', { value: { text: 'hello' } });
  link(join, chosen);
  link(chosen, last);
  const nodes = [...sideBySide(one, two, quick, slow), third, late, join, chosen, last];
  return withFarWorker(world, async () => {
    const { runId } = await start(world, { pools: ['far'] }, nodes, { execution: 'dense' });
    return world.ended(runId);
  });
}

function agentInPool(world: World): Promise<string> {
  const nodes = inRow(world.agent([ADDS, DONE], 'never'));
  return withFarWorker(world, async () => world.ended((await start(world, { pool: 'far' }, nodes)).runId));
}

/** The project gets another pool while its agent waits for a decision. */
function agentMoved(world: World): Promise<string> {
  const agent = world.agent([NOTES, DONE], 'always');
  return withFarWorker(world, async () => {
    const { runId, projectId } = await start(world, {}, inRow(agent));
    const [request] = await world.requests(runId, agent.id);
    await setPools(world, projectId, { pool: 'far' });
    await pause(WORKERS_KNOW_MS);
    await world.decide(runId, request!, 'approve');
    return world.ended(runId);
  });
}

/** Changes the pools of the project while the first node is in flight. */
async function changed(world: World, path: string, [before, after]: [Pools, Pools], next: DrawingNode) {
  const { runId, projectId } = await start(world, before, inRow(http(`${world.target.url}/hold/${path}`), next));
  await eventually(() => world.target.requestsTo(`/hold/${path}`).length === 1);
  await setPools(world, projectId, after);
  await pause(WORKERS_KNOW_MS);
  world.target.release(`/hold/${path}`);
  return world.ended(runId);
}

export const scenariosOfPools: Record<string, Scenario> = {
  pools: acrossPools,
  'pools-agent': agentInPool,
  'pools-agent-moved': agentMoved,
  'pools-moved': (world) =>
    withFarWorker(world, () => changed(world, 'moved', [{}, { pool: 'far' }], http(`${world.target.url}/moved`))),
  'pools-refused': (world) => changed(world, 'refused', [{ pools: ['far'] }, {}], far(`${world.target.url}/never`)),
  'pools-too-late': async (world) => {
    const lost = http(`${world.target.url}/never`, { settings: { pool: 'nobody', schedule_timeout: 1 } });
    return world.ended((await start(world, { pools: ['nobody'] }, inRow(lost))).runId);
  },
  'schedule-timeout': (world) =>
    world.runToEnd(inRow(http(`${world.target.url}/once`, { settings: { schedule_timeout: 60 } }))),
};
