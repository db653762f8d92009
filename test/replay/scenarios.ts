// Runs on a server with its default settings: every node kind, and every path of the scheduler except continue-as-new.
import { RUN_WORKFLOW_TYPE, type RunGraphInput } from '../../contract/run-workflow.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  condition,
  http,
  link,
  llm,
  mcp,
  node as nodeOf,
  type DrawingNode,
  inRow,
  sideBySide,
} from '../../harness/drawing/drawing.js';
import { giveUpOn } from '../support/inspect.js';
import { scenariosOfWaits } from './scenarios-waits.js';
import { scenariosOfPools } from './scenarios-pools.js';
import { scenariosResumed } from './scenarios-resumed.js';
import { endlessLoops, failingLoops, loopBesideFailure, loopInLoop, stoppedLoops } from './drawn-loops.js';
import { agentWithRuns, childRun, parentOf, startedTwice } from './sub-workflows.js';
import { scenariosOfSchedules } from './schedules.js';
import { ADDS, callsTool, DONE, NOTES, type Scenario, type World } from './scenario.js';

/** Both branches of a condition lead to one join. */
export function diamond({ target }: World, left: string): DrawingNode[] {
  const choice = condition(left, '==', 'yes');
  const [yes, no, join] = [http(`${target.url}/yes`), http(`${target.url}/no`), http(`${target.url}/join`)];
  link(choice, yes, 'true');
  link(choice, no, 'false');
  link(yes, join);
  link(no, join);
  return [...inRow(choice), yes, no, join];
}

/** The branch not taken is two nodes long and ends at a join that another branch reaches. */
function deadPath({ target }: World): DrawingNode[] {
  const choice = condition('no', '==', 'yes');
  const [dead, deader] = [http(`${target.url}/dead`), http(`${target.url}/deader`)];
  const [live, join] = [http(`${target.url}/live`), http(`${target.url}/join`)];
  link(choice, dead, 'true');
  link(dead, deader);
  link(deader, join);
  link(live, join);
  return [...sideBySide(choice, live), dead, deader, join];
}

function fanOut({ target }: World): DrawingNode[] {
  const branches = Array.from({ length: 36 }, () => http(`${target.url}/fan`));
  const join = http(`${target.url}/join`);
  for (const branch of branches) link(branch, join);
  return [...sideBySide(...branches), join];
}

/** An agent that requests approval for one call; `word` is the answer. */
async function decided(world: World, word: 'approve' | 'reject', settings = {}): Promise<string> {
  const node = world.agent([NOTES, DONE], 'always', settings);
  const { runId } = await world.start(inRow(node));
  const [request] = await world.requests(runId, node.id);
  await world.decide(runId, request!, word);
  return world.ended(runId);
}

async function retried(world: World): Promise<string> {
  world.target.on('/flaky', [{ status: 503, headers: { 'retry-after': '0' } }, { body: 'ok' }]);
  return world.runToEnd(inRow(http(`${world.target.url}/flaky`)));
}

/**
 * A node fails while others are in flight, an agent waits for an approval, and more nodes are ready than may be in
 * flight.
 */
async function siblingsCancelled(world: World): Promise<string> {
  const waits = world.agent([NOTES, DONE], 'always');
  const slow = Array.from({ length: 32 }, () => http(`${world.target.url}/delay/20000/sibling`));
  world.target.on('/fails-late', () => ({ status: 418, delayMs: 1_500 }));
  return world.runToEnd(sideBySide(http(`${world.target.url}/fails-late`), waits, ...slow));
}

async function failsWhileAgentWaits(world: World): Promise<string> {
  const waits = world.agent([NOTES, DONE], 'always');
  world.target.on('/fails-last', () => ({ status: 418, delayMs: 1_500 }));
  return world.runToEnd(sideBySide(waits, http(`${world.target.url}/fails-last`)));
}

async function cancelledInFlight(world: World): Promise<string> {
  const run = await world.start(
    sideBySide(http(`${world.target.url}/delay/20000/a`), http(`${world.target.url}/delay/20000/b`)),
  );
  await eventually(() => world.target.requestsTo('/delay/20000/b').length === 1);
  await world.cancel(run);
  return world.ended(run.runId);
}

async function cancelledWhileWaiting(world: World): Promise<string> {
  const node = world.agent([NOTES, DONE], 'always');
  const run = await world.start(inRow(node));
  await world.requests(run.runId, node.id);
  await world.cancel(run);
  return world.ended(run.runId);
}

/** A person cancels the run while the siblings of a failed node are being stopped: the run stays failed. */
async function cancelledWhileFailing(world: World): Promise<string> {
  world.target.on('/fails-soon', () => ({ status: 418, delayMs: 500 }));
  // The activity of the slow node receives the cancellation at its next heartbeat.
  const [slow, never] = [http(`${world.target.url}/delay/20000/being-stopped`), http(`${world.target.url}/never`)];
  link(slow, never);
  const { runId } = await world.start([...sideBySide(slow, http(`${world.target.url}/fails-soon`)), never]);
  await world.inPhase(runId, 'failing');
  await world.temporal((client) => client.workflow.getHandle(runId).cancel());
  return world.ended(runId);
}

/** The run is cancelled before its first step, because the worker is stopped. */
async function cancelledBeforeItBegins(world: World): Promise<string> {
  const { worker } = world.stack.stack.pids;
  process.kill(worker!, 'SIGSTOP');
  try {
    const run = await world.start(inRow(http(`${world.target.url}/never`)));
    await world.cancel(run);
    process.kill(worker!, 'SIGCONT');
    return await world.ended(run.runId);
  } finally {
    process.kill(worker!, 'SIGCONT');
  }
}

/** The node hangs until Temporal gives up on its activity. */
async function timedOut(world: World): Promise<string> {
  const hangs = http(`${world.target.url}/delay/60000/given-up`);
  const { runId } = await world.start(inRow(hangs));
  await eventually(() => world.target.requestsTo('/delay/60000/given-up').length === 1);
  await giveUpOn(world.stack, runId, hangs.id);
  return world.ended(runId);
}

/** After caught failures, one node takes its ordinary links, the other its error link. The last node joins any link. */
function caught({ target }: World): DrawingNode[] {
  const [last, never] = [http(`${target.url}/after-failures`, { join: 'any' }), http(`${target.url}/never`)];
  const goesOn = http(`${target.url}/status/418`, { on_error: 'continue' });
  const branches = http(`${target.url}/status/418`, { on_error: 'branch', error_node: last.id });
  link(goesOn, last);
  link(branches, never);
  return [...sideBySide(goesOn, branches), last, never];
}

/** Two of three cases hold, and their branches join again. */
function switched({ target }: World): DrawingNode[] {
  const ways = ['one', 'two', 'three'].map((name) => http(`${target.url}/${name}`));
  const cases = ways.map(({ id }, index) => ({
    id: `case-${index}`,
    condition: { left: String(index), operator: '!=', right: '1' },
    node: id,
  }));
  const choice = nodeOf('switch', { cases, mode: 'all' });
  const join = http(`${target.url}/join`);
  for (const way of ways) link(way, join);
  return [...inRow(choice), ...ways, join];
}

async function cancelledLoops(world: World): Promise<string> {
  const run = await world.start(endlessLoops(world, 'cancelled-loops'));
  await eventually(() => world.target.requestsTo('/delay/60000/cancelled-loops').length === 4);
  await world.cancel(run);
  return world.ended(run.runId);
}

/** Temporal gives up on a node whose failure is caught. */
async function caughtTimeOut(world: World): Promise<string> {
  const path = '/delay/60000/given-up-and-caught';
  const hangs = http(`${world.target.url}${path}`, { on_error: 'continue' });
  const { runId } = await world.start(inRow(hangs, http(`${world.target.url}/after-time-out`)));
  await eventually(() => world.target.requestsTo(path).length === 1);
  await giveUpOn(world.stack, runId, hangs.id);
  return world.ended(runId);
}

/**
 * Terminates the run and starts another one under its id. The plan of that run cannot complete, which only a bug could
 * cause: its second node waits for two links, but has only one.
 */
async function stalled(world: World): Promise<string> {
  const node = world.agent([NOTES, DONE], 'always');
  const [start] = inRow(node);
  const { runId } = await world.start([start!, node]);
  await world.requests(runId, node.id);
  await world.temporal(async (client) => {
    const { taskQueue } = await client.workflow.getHandle(runId).describe();
    const input: RunGraphInput = {
      runId,
      maxInFlight: 32,
      plan: {
        ids: [start!.id, node.id],
        kinds: ['trigger', 'agent'],
        labels: ['trigger', 'agent'],
        out: [[[1, 0]], []],
        indegree: [0, 2],
      },
    };
    await client.workflow.start(RUN_WORKFLOW_TYPE, {
      workflowId: runId,
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    });
  });
  return world.ended(runId);
}

/** The same decision is sent twice, and one is sent for a request that does not exist. */
async function strayDecisions(world: World): Promise<string> {
  const node = world.agent([{ toolCalls: [...NOTES.toolCalls!, ...ADDS.toolCalls!] }, DONE], 'always');
  const { runId } = await world.start(inRow(node));
  const [first, second] = await world.requests(runId, node.id, 2);
  await world.temporal((client) =>
    client.workflow.getHandle(runId).signal('decide', { requestId: 'of-nobody', isApproved: true }),
  );
  await world.decide(runId, first!, 'approve');
  await world.decide(runId, first!, 'approve');
  await world.decide(runId, second!, 'reject');
  return world.ended(runId);
}

export const scenarios: Record<string, Scenario> = {
  trigger: (world) => world.runToEnd(inRow()),
  'start-without-trigger': (world) => world.runToEnd([http(`${world.target.url}/once`)]),
  'condition-true': (world) => world.runToEnd(diamond(world, 'yes')),
  'condition-false': (world) => world.runToEnd(diamond(world, 'no')),
  'dead-path': (world) => world.runToEnd(deadPath(world)),
  'fan-out': (world) => world.runToEnd(fanOut(world)),
  http: (world) => world.runToEnd(inRow(http(`${world.target.url}/once`))),
  'http-retried': retried,
  llm: (world) => world.runToEnd(inRow(llm('hello'))),
  code: (world) => world.runToEnd(inRow(nodeOf('code', { code: 'return inputs.n + 1', inputs: { n: 1 } }))),
  mcp: (world) => world.runToEnd(inRow(mcp(world.tools.url, 'add', { a: 1, b: 2 }))),
  set: (world) => world.runToEnd(inRow(nodeOf('set', { value: { text: 'hello' } }))),
  output: (world) => world.runToEnd(inRow(nodeOf('output', { value: 'hello' }))),
  'loop-in-loop': (world) => world.runToEnd(loopInLoop(world)),
  'stopped-loops': (world) => world.runToEnd(stoppedLoops(world)),
  'loop-beside-failure': (world) => world.runToEnd(loopBesideFailure()),
  'cancelled-loops': cancelledLoops,
  'failing-loops': (world) => world.runToEnd(failingLoops(world)),
  'agent-several-turns': (world) => world.runToEnd(inRow(world.agent([ADDS, NOTES, DONE], 'never'))),
  'agent-approved': (world) => decided(world, 'approve'),
  'agent-rejected': (world) => decided(world, 'reject'),
  'agent-failed-by-rejection': (world) => decided(world, 'reject', { on_reject: 'fail' }),
  'agent-expired': (world) => world.runToEnd(inRow(world.agent([NOTES, DONE], 'always', { approval_timeout: 1 }))),
  'agent-stray-decisions': strayDecisions,
  'agent-mixed-turns': async (world) => {
    const policy = { always: { tool_names: ['note'] }, never: { tool_names: ['add'] } };
    const node = world.agent([ADDS, NOTES, callsTool('add', { a: 3, b: 4 }), DONE], policy);
    const { runId } = await world.start(inRow(node));
    const [request] = await world.requests(runId, node.id);
    await world.decide(runId, request!, 'approve');
    return world.ended(runId);
  },
  ...scenariosOfPools,
  ...scenariosOfWaits,
  ...scenariosOfSchedules,
  ...scenariosResumed,
  'failed-siblings-cancelled': siblingsCancelled,
  'failed-while-agent-waits': failsWhileAgentWaits,
  'cancelled-in-flight': cancelledInFlight,
  'cancelled-while-waiting': cancelledWhileWaiting,
  'cancelled-while-failing': cancelledWhileFailing,
  'cancelled-before-it-begins': cancelledBeforeItBegins,
  'timed-out': timedOut,
  switch: (world) => world.runToEnd(switched(world)),
  caught: (world) => world.runToEnd(caught(world)),
  'caught-time-out': caughtTimeOut,
  stalled,
  'sub-workflow': parentOf,
  'sub-workflow-run': childRun,
  'sub-workflow-started-twice': startedTwice,
  'agent-with-runs': (world) => agentWithRuns(world, 'recorded-with-runs', (agent) => inRow(agent)),
};
