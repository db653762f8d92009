// Runs on a server that suggests continue-as-new after 20 events.
import { eventually } from '../../harness/timing/eventually.js';
import {
  agent,
  condition,
  http,
  link,
  node as nodeOf,
  type DrawingNode,
  inRow,
  sideBySide,
} from '../../harness/drawing/drawing.js';
import { callBack, callbackUrlOf } from '../support/waiting.js';
import { ADDS, DONE, NOTES, type Scenario, type World } from './scenario.js';
import { resumed } from './scenarios-resumed.js';
import { continuedSchedule } from './schedules.js';
import { agentWithRuns } from './sub-workflows.js';

export const EVENTS_OF_AN_EXECUTION = 20;

/** A row of nodes that is long enough to pass this limit. */
function busy({ target }: World, path: string, length = 8): DrawingNode[] {
  const [, ...nodes] = inRow(...Array.from({ length }, () => http(`${target.url}/${path}`)));
  return nodes;
}

/** Each node names its pool, so a local activity decides about the pool of each. */
function inDefaultPool({ target }: World): DrawingNode[] {
  return Array.from({ length: 5 }, () => http(`${target.url}/in-pool`, { settings: { pool: 'default' } }));
}

/** Joins graphs that start side by side; the nodes of each row follow each other. */
function beside(...rows: DrawingNode[][]): DrawingNode[] {
  const firsts = rows.map(([first]) => first!);
  return [...sideBySide(...firsts), ...rows.flatMap(([, ...rest]) => rest)];
}

/** One approval is pending from the first execution to the last; another one is answered before. */
async function parkedAgent(world: World): Promise<string> {
  const parked = world.agent([{ toolCalls: [...NOTES.toolCalls!, ...ADDS.toolCalls!] }, DONE], 'always');
  const gate = http(`${world.target.url}/delay/1500/gate`);
  const rest = busy(world, 'parked');
  link(gate, rest[0]!);
  const { runId } = await world.start([...sideBySide(parked, gate), ...rest]);
  const [first, second] = await world.requests(runId, parked.id, 2);
  await world.decide(runId, first!, 'approve');
  await eventually(() => world.target.requestsTo('/parked').length === rest.length, { timeoutMs: 30_000 });
  await world.decide(runId, second!, 'approve');
  return world.ended(runId);
}

/** A fan-out whose results join after the run has continued as new: unsettled edges are passed on. */
async function joinAcross(world: World): Promise<string> {
  const [left, right] = [busy(world, 'left', 4), busy(world, 'right', 4)];
  const [check, join] = [condition('1', '==', '2'), http(`${world.target.url}/joined`)];
  for (const last of [left.at(-1)!, right.at(-1)!]) link(last, check);
  link(check, join, 'false');
  return world.runToEnd([...beside(left, right), check, join]);
}

/** One node takes longer than the others, and fails while the run drains. */
async function failedWhileDraining(world: World): Promise<string> {
  const slow = http(`${world.target.url}/delay/60000/outlasts`);
  const { runId } = await world.start(beside([slow], busy(world, 'drains')));
  await world.inPhase(runId, 'draining');
  await world.temporal((client) =>
    client.workflowService.respondActivityTaskFailedById({
      namespace: client.options.namespace,
      workflowId: runId,
      activityId: slow.id,
      failure: {
        message: 'The node failed.',
        applicationFailureInfo: { type: 'http_status', nonRetryable: true },
      },
    }),
  );
  return world.ended(runId);
}

async function cancelledWhileDraining(world: World): Promise<string> {
  const slow = http(`${world.target.url}/delay/60000/outlasts-too`);
  const run = await world.start(beside([slow], busy(world, 'cancelled')));
  await world.inPhase(run.runId, 'draining');
  await world.cancel(run);
  return world.ended(run.runId);
}

/** Open iterations, an inner loop and an agent that waits in one of them are passed on to the next executions. */
async function continuedInLoops(world: World): Promise<string> {
  const call = http('', { label: 'call' });
  const inner = nodeOf('for_each', { body_node: call.id, items: [1, 2, 3], concurrency: 2 });
  const outer = nodeOf('for_each', { body_node: inner.id, items: ['a', 'b', 'c', 'd'], concurrency: 2 });
  call.data['url'] = `${world.target.url}/{{ ${outer.id}.item }}/{{ ${inner.id}.item }}`;
  const parked = world.agent([NOTES, DONE], 'always');
  const one = nodeOf('for_each', { body_node: parked.id, items: ['only'] });
  const fails = http(`${world.target.url}/status/418`, { label: 'fails' });
  const leftOut = nodeOf('for_each', {
    body_node: fails.id,
    items: [1, 2, 3, 4],
    on_item_error: 'skip',
    concurrency: 2,
  });
  const round = http(`${world.target.url}/round`);
  const rounds = nodeOf('loop', { body_node: round.id, max_rounds: 8, on_limit: 'continue' });
  rounds.data['until'] = { left: '1', operator: '==', right: '2' };
  const drawn = [...sideBySide(outer, one, leftOut, rounds), inner, call, parked, fails, round];
  const { runId } = await world.start(drawn);
  const requests = await eventually(
    async () => {
      const { body } = await world.api.get<{ items: { request_id: string; run_id: string }[] }>('/agent-approvals/');
      const own = body.items.filter((request) => request.run_id === runId);
      return own.length > 0 && own;
    },
    { timeoutMs: 30_000 },
  );
  await eventually(() => world.target.requestsTo('/d/3').length === 1, { timeoutMs: 30_000 });
  await world.decide(runId, requests[0]!.request_id, 'approve');
  return world.ended(runId);
}

/** One callback is called while the run drains, the other one in a later execution. */
async function parkedWaits(world: World): Promise<string> {
  const [first, second] = [nodeOf('wait', { mode: 'callback' }), nodeOf('wait', { mode: 'callback' })];
  const slow = http(`${world.target.url}/delay/6000/outlasts-waits`);
  const { runId } = await world.start([...beside([first], [second], [slow], busy(world, 'beside-waits'))]);
  const url = await callbackUrlOf(world.api, runId, first.id);
  await world.inPhase(runId, 'draining');
  await callBack(url, 'while it drains');
  await eventually(async () => (await world.api.poll(runId)).data.data![first.id]!.status === 'succeed' || undefined, {
    timeoutMs: 30_000,
  });
  await callBack(await callbackUrlOf(world.api, runId, second.id), 'later');
  return world.ended(runId);
}

/** An agent whose failure was caught is not started again in a later execution. */
function caughtAgent(world: World): DrawingNode[] {
  const nowhere = { endpoint_url: 'http://127.0.0.1:1/', require_approval: 'never' };
  const fails = agent('work', {}, [nowhere], { on_error: 'continue', retry: { max_attempts: 1 } });
  return beside([fails], busy(world, 'after-a-caught-agent', 12));
}

/** The run of one of the agent's calls ends while the parent drains, that of the other call in a later execution. */
function parkedForRuns(world: World): Promise<string> {
  const slow = http(`${world.target.url}/delay/6000/outlasts-runs`);
  return agentWithRuns(
    world,
    'continued-with-runs',
    (parked) => beside([parked], [slow], busy(world, 'beside-runs')),
    (runId) => world.inPhase(runId, 'draining'),
  );
}

export const scenariosOverExecutions: Record<string, Scenario> = {
  'continued-with-parked-agent': parkedAgent,
  'continued-with-busy-agent': (world) =>
    world.runToEnd(beside([world.agent([ADDS, ADDS, ADDS, ADDS, DONE], 'never')], busy(world, 'beside'))),
  'continued-with-waits': parkedWaits,
  'continued-with-runs-of-an-agent': parkedForRuns,
  'continued-after-a-caught-agent': (world) => world.runToEnd(caughtAgent(world)),
  'continued-before-a-join': joinAcross,
  'continued-in-loops': continuedInLoops,
  'continued-in-pools': (world) => world.runToEnd(inRow(...inDefaultPool(world))),
  'continued-resumed': resumed,
  'failed-while-draining': failedWhileDraining,
  'cancelled-while-draining': cancelledWhileDraining,
  'scheduled-run-continued': continuedSchedule,
};
