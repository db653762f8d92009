// Runs on a stack whose operator has placed HTTP nodes locally: all that a local attempt can end in.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { eventually } from '../support/eventually.js';
import { http } from '../support/graphs.js';
import { inRow, sideBySide } from './shapes.js';
import type { Scenario, World } from './scenario.js';

export const PLACED_LOCALLY = { EXECUTION: 'dense', DENSE_PLACEMENT: 'http:local' };

async function retried(world: World): Promise<string> {
  world.target.on('/flaky-locally', [{ status: 503, headers: { 'retry-after': '1' } }, { body: 'ok' }]);
  return world.runToEnd(inRow(http(`${world.target.url}/flaky-locally`)));
}

/** The database makes the claim of a local node wait for longer than a local try may take: no fault of the node's. */
async function hindered(world: World): Promise<string> {
  const database = new pg.Client({ connectionString: world.stack.stack.database_url });
  await database.connect();
  try {
    const [first, second] = [http(`${world.target.url}/delay/700/before`), http(`${world.target.url}/hindered`)];
    const { runId } = await world.start(inRow(first, second));
    await eventually(() => world.target.requestsTo('/delay/700/before').length === 1);
    await database.query('BEGIN');
    await database.query('LOCK TABLE runs IN ACCESS EXCLUSIVE MODE');
    await eventually(async () => isHandedOver(world, runId), { timeoutMs: 30_000 });
    await database.query('COMMIT');
    return await world.ended(runId);
  } finally {
    await database.end();
  }
}

/** Whether a normal activity has taken over. */
function isHandedOver(world: World, runId: string): Promise<boolean> {
  return world.temporal(async (client) => {
    const { events } = await client.workflow.getHandle(runId).fetchHistory();
    return events?.some((event) => event.activityTaskScheduledEventAttributes) ?? false;
  });
}

/** The API is not there when the run has come to its end. */
async function toldLater(world: World): Promise<string> {
  const { runId } = await world.start(inRow(http(`${world.target.url}/delay/800/last`)));
  await eventually(() => world.target.requestsTo('/delay/800/last').length === 1);
  const { api } = world.stack.stack.pids;
  process.kill(api!, 'SIGSTOP');
  try {
    await eventually(() => isHandedOver(world, runId), { timeoutMs: 30_000 });
  } finally {
    process.kill(api!, 'SIGCONT');
  }
  return world.ended(runId);
}

/** Temporal gives up on two side by side in a local activity, whose worker stands still: no fault of the nodes'. */
async function frozen(world: World): Promise<string> {
  const nodes = ['a', 'b'].map((name) => http(`${world.target.url}/delay/700/frozen-${name}`));
  const { runId } = await world.start(sideBySide(...nodes));
  await eventually(() => world.target.requestsTo('/delay/700/frozen-b').length === 1);
  const { worker } = world.stack.stack.pids;
  process.kill(worker!, 'SIGSTOP');
  try {
    await pause(7_000);
  } finally {
    process.kill(worker!, 'SIGCONT');
  }
  return world.ended(runId);
}

/** The second of three is undone: the first is done once, the third follows in a normal activity. */
async function retriedInRow(world: World): Promise<string> {
  world.target.on('/flaky-in-row', [{ status: 503, headers: { 'retry-after': '1' } }, { body: 'ok' }]);
  const [before, flaky, after] = ['before-flaky', 'flaky-in-row', 'after-flaky'].map((at) =>
    http(`${world.target.url}/${at}`),
  );
  return world.runToEnd(inRow(before!, flaky!, after!));
}

/** A cancel finds the run's last node in its last moments: what is told of the end counts. */
async function cancelledTooLate(world: World): Promise<string> {
  const run = await world.start(inRow(http(`${world.target.url}/delay/700/last-of-all`)));
  await eventually(() => world.target.requestsTo('/delay/700/last-of-all').length === 1);
  const { api } = world.stack.stack.pids;
  process.kill(api!, 'SIGSTOP');
  try {
    await world.temporal((client) => client.workflow.getHandle(run.runId).cancel());
    await pause(900);
  } finally {
    process.kill(api!, 'SIGCONT');
  }
  return world.ended(run.runId);
}

async function cancelled(world: World): Promise<string> {
  const nodes = Array.from({ length: 20 }, () => http(`${world.target.url}/delay/400/cancelled-locally`));
  const run = await world.start(inRow(...nodes));
  await eventually(() => world.target.requestsTo('/delay/400/cancelled-locally').length === 2);
  await world.cancel(run);
  return world.ended(run.runId);
}

export const scenariosPlacedLocally: Record<string, Scenario> = {
  'local-http': (world) => world.runToEnd(inRow(http(`${world.target.url}/a`), http(`${world.target.url}/b`))),
  'local-fan-out': (world) => {
    const branches = Array.from({ length: 36 }, () => http(`${world.target.url}/local-fan`));
    return world.runToEnd(sideBySide(...branches));
  },
  'local-beside-normal': (world) => {
    const post = http(`${world.target.url}/post`, { method: 'POST', body: {} });
    return world.runToEnd(sideBySide(http(`${world.target.url}/c`), post));
  },
  'local-failed': (world) => world.runToEnd(inRow(http(`${world.target.url}/status/404/locally`))),
  'local-concurrent-failed': (world) =>
    world.runToEnd(sideBySide(...['status/404/side', 'side'].map((path) => http(`${world.target.url}/${path}`)))),
  'local-alone-retried': (world) => {
    world.target.on('/flaky-alone', [{ status: 503, headers: { 'retry-after': '1' } }, { body: 'ok' }]);
    const post = http(`${world.target.url}/post`, { method: 'POST', body: {} });
    return world.runToEnd(sideBySide(http(`${world.target.url}/flaky-alone`), post));
  },
  'local-retried': retried,
  'local-cut': (world) => world.runToEnd(inRow(http(`${world.target.url}/delay/1500/cut`))),
  'local-hindered': hindered,
  'local-frozen': frozen,
  'local-told-later': toldLater,
  'local-in-row-retried': retriedInRow,
  'local-in-row-failed': (world) =>
    world.runToEnd(inRow(http(`${world.target.url}/d`), http(`${world.target.url}/status/404/in-row`))),
  'local-cancelled-too-late': cancelledTooLate,
  'local-cancelled': cancelled,
};
