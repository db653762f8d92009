// Runs with dense execution, in which nodes share activities.
import { eventually } from '../../harness/timing/eventually.js';
import { condition, http, link, llm, type DrawingNode, inRow, sideBySide } from '../../harness/drawing/drawing.js';
import { giveUpOn } from '../support/inspect.js';
import { diamond } from './scenarios.js';
import type { Scenario, World } from './scenario.js';

export const DENSE = { EXECUTION: 'dense' };

/** A condition whose branches never join, so the nodes after it run in its activity. */
function forked({ target }: World, path: string, answer: string): DrawingNode[] {
  const choice = condition(answer, '==', 'yes');
  const [whenTrue, whenFalse] = [http(`${target.url}/${path}`), http(`${target.url}/${path}`)];
  link(choice, whenTrue, 'true');
  link(choice, whenFalse, 'false');
  return [...inRow(http(`${target.url}/before-forks`), choice), whenTrue, whenFalse];
}

/** Three nodes start together in one activity: one has ended and one is in flight when the third fails. */
async function besideFailed(world: World): Promise<string> {
  const { target } = world;
  target.on('/fails-beside', () => ({ status: 418, delayMs: 300 }));
  const nodes = ['done', 'delay/20000/beside', 'fails-beside'].map((path) => http(`${target.url}/${path}`));
  return world.runToEnd(sideBySide(...nodes));
}

/** One node must be retried by itself; the node that waits for it starts after that. */
async function besideRetried(world: World): Promise<string> {
  const { target } = world;
  target.on('/flaky-beside', [{ status: 503, headers: { 'retry-after': '1' } }, { body: 'ok' }]);
  const join = http(`${target.url}/join`);
  const nodes = ['done', 'flaky-beside'].map((path) => http(`${target.url}/${path}`));
  for (const node of nodes) link(node, join);
  return world.runToEnd([...sideBySide(...nodes), join]);
}

/** The last node hangs until Temporal gives up on the activity, which has the id of the first. */
async function besideTimedOut(world: World): Promise<string> {
  const path = '/delay/60000/given-up-beside';
  const [first, hangs] = [http(`${world.target.url}/done`), http(`${world.target.url}${path}`)];
  const { runId } = await world.start(sideBySide(first, hangs));
  await eventually(() => world.target.requestsTo(path).length === 1);
  await giveUpOn(world.stack, runId, first.id);
  return world.ended(runId);
}

/** Only one branch of the first condition has a link, and no branch of the last condition. */
function halfForked({ target }: World): DrawingNode[] {
  const [choice, last] = [condition('yes', '==', 'yes'), condition('1', '==', '1')];
  const after = http(`${target.url}/half-forked`);
  link(choice, after, 'true');
  link(after, last);
  return [...inRow(choice), after, last];
}

/** A condition is the first node of its activity, because another node starts at the same time. */
function decisionFirst({ target }: World): DrawingNode[] {
  const choice = condition('yes', '==', 'no');
  const [whenTrue, whenFalse] = [http(`${target.url}/when-true`), http(`${target.url}/when-false`)];
  link(choice, whenTrue, 'true');
  link(choice, whenFalse, 'false');
  return [...sideBySide(choice, http(`${target.url}/meanwhile`)), whenTrue, whenFalse];
}

/** The node after the concurrent nodes fails in their activity. */
function failedAfterConcurrent({ target }: World): DrawingNode[] {
  const join = http(`${target.url}/status/404/after-concurrent`);
  const nodes = ['one', 'two'].map((path) => http(`${target.url}/${path}`));
  for (const node of nodes) link(node, join);
  return [...sideBySide(...nodes), join];
}

/** A node whose failure is caught shares no activity, and neither does one with `join: 'any'`. */
function denseCaught({ target }: World): DrawingNode[] {
  const [before, last] = [http(`${target.url}/before-failure`), http(`${target.url}/after-any`, { join: 'any' })];
  const fails = http(`${target.url}/status/418`, { on_error: 'continue' });
  const beside = http(`${target.url}/beside-failure`);
  link(before, fails);
  link(before, beside);
  link(fails, last);
  link(beside, last);
  return [...inRow(before), fails, beside, last];
}

export const scenariosDense: Record<string, Scenario> = {
  'dense-caught': (world) => world.runToEnd(denseCaught(world)),
  'dense-chain': (world) => world.runToEnd(inRow(http(`${world.target.url}/a`), http(`${world.target.url}/b`))),
  'dense-forks': (world) => world.runToEnd(forked(world, 'once', 'yes')),
  'dense-forks-failed': (world) => world.runToEnd(forked(world, 'status/404/forked', 'no')),
  'dense-own': (world) =>
    world.runToEnd(inRow(http(`${world.target.url}/a`), llm('hello'), http(`${world.target.url}/b`))),
  'dense-diamond': (world) => world.runToEnd(diamond(world, 'yes')),
  'dense-half-forked': (world) => world.runToEnd(halfForked(world)),
  'dense-decision-first': (world) => world.runToEnd(decisionFirst(world)),
  'dense-failed-after-concurrent': (world) => world.runToEnd(failedAfterConcurrent(world)),
  'dense-concurrent-failed': besideFailed,
  'dense-concurrent-retried': besideRetried,
  'dense-concurrent-timed-out': besideTimedOut,
};
