// Measures the processor time of each action of clients and of each part of runs. In each round the subjects alternate.
// Temporal's time includes timers that earlier runs leave behind for ten seconds (throughput.ts), so no limit is on
// Temporal's time alone.
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { Agent, request } from 'undici';
import { chainOf, graphs, type Graph } from '../graphs.js';
import { credentialHeaders } from '../../harness/client/api-client.js';
import { unlimitedKey } from '../../harness/stack/supervisor.js';
import { closeAll, type Closer } from '../close-all.js';
import { ALONE_POLL_MS, PLAIN_INPUT, runJob } from '../load.js';
import { cpuBetween, cpuOf, ofEachPart, PARTS, type CpuSeconds } from '../processes.js';
import type { Cost, CostName } from '../results.js';
import type { PolledSubject, Service, Variant } from '../subjects.js';
import { endHeld, startHeld } from './held.js';
import type { RowContext } from './row-context.js';

const CHAIN = chainOf(5);
const LONG_CHAIN = chainOf(20);
const LOOP = graphs['for-each-100-by-20'];
/**
 * The number of actions at once, and of actions per second of a round, which is about the capacity of an idle machine.
 * A busy machine takes longer, but its processor time is measured as precisely.
 */
const REQUESTS = { lanes: 4, perSecond: 300 };
const STARTS = { lanes: 4, perSecond: 25 };
const RUNS = { lanes: 20, perSecond: 20 };
const LONG_RUNS = { lanes: 20, perSecond: 8 };
const LOOPS = { lanes: 1, perSecond: 0.5 };
const CROWD = { keys: 20, runs: 50 };
const CROWD_WHEN_QUICK = { keys: 2, runs: 5 };

/** The measured actions. `costsOf` computes the costs from them. */
type ActionName =
  | 'request'
  | 'request in a crowd'
  | 'project'
  | 'poll'
  | 'poll in a crowd'
  | 'unchanged poll'
  | 'start'
  | 'run'
  | 'run, waited for at its start'
  | 'run, waited for later'
  | 'run, streamed'
  | 'long run'
  | 'loop';

interface Action {
  lanes: number;
  perSecond: number;
  once: () => Promise<unknown>;
  /** Prepares the action and cleans up after it. Only the call of `measure` is measured. */
  around?: (measure: () => Promise<CpuSeconds>) => Promise<CpuSeconds>;
}

type Actions = Partial<Record<ActionName, Action>>;
/** Processor seconds per action. */
type Measured = Partial<Record<ActionName, CpuSeconds>>;

/**
 * Measures all services, and the twins whose gateway is a separate process. Requests and waiting clients cost the same
 * in all variants, so they are only measured in `variant`.
 */
export async function measureCosts(context: RowContext, variant: Variant): Promise<Cost[]> {
  const { testbed, subjects, durationMs, rounds, isQuick, report } = context;
  const twins = testbed.twins.filter((twin) => subjects.includes(twin) && twin.name !== 'twin-eager');
  const closers: Closer[] = [];
  try {
    const sides: { subject: PolledSubject; actions: Actions; costs: Cost[] }[] = [];
    for (const subject of testbed.services) {
      const actions = await runActions(subject, closers);
      const isShown = subject.name === variant || subject.name === `${variant}-other`;
      if (isShown) Object.assign(actions, await serviceActions(context, subject, closers));
      sides.push({ subject, actions, costs: [] });
    }
    for (const subject of twins) sides.push({ subject, actions: await runActions(subject, closers), costs: [] });
    const names = [...new Set(sides.flatMap(({ actions }) => Object.keys(actions) as ActionName[]))];
    // Round 0 is short and discarded, because it compiles code and fills caches. A quick benchmark has none.
    for (let round = isQuick ? 1 : 0; round <= rounds; round++) {
      const measured = sides.map((): Measured => ({}));
      for (const name of names) {
        for (const [index, { subject, actions }] of sides.entries()) {
          const action = actions[name];
          if (action === undefined) continue;
          measured[index]![name] = await measureAction(subject, action, round === 0 ? durationMs / 4 : durationMs);
        }
      }
      if (round === 0) continue;
      for (const [index, { subject, costs }] of sides.entries()) addRound(costs, subject, costsOf(measured[index]!));
      report(`costs, round ${round}`);
    }
    return sides.flatMap(({ costs }) => costs);
  } finally {
    await closeAll(closers);
  }
}

async function measureAction(
  subject: PolledSubject,
  { lanes, perSecond, once, around = (measure) => measure() }: Action,
  durationMs: number,
): Promise<CpuSeconds> {
  const count = Math.ceil((perSecond * durationMs) / 1000);
  return around(async () => {
    const before = cpuOf(subject.pids());
    let left = count;
    const lane = async (): Promise<void> => {
      while (left-- > 0) await once();
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    const spent = cpuBetween(before, cpuOf(subject.pids()));
    return ofEachPart((part) => spent[part] / count);
  });
}

/** Returns the actions that the service and the twins have in common. */
async function runActions(subject: PolledSubject, closers: Closer[]): Promise<Actions> {
  for (const graph of [CHAIN, LONG_CHAIN, LOOP]) await subject.prepare(graph);
  const { temporal_address: address, temporal_namespace: namespace } = subject.stack.stack;
  const connection = await Connection.connect({ address });
  closers.push(() => connection.close());
  const { workflow } = new Client({ connection, namespace });
  // The end of a run is read from Temporal, so that the subjects do not spend time on answers about it.
  const start = async (graph: Graph): Promise<string> => (await subject.start(graph, PLAIN_INPUT)).id;
  const end = (id: string): Promise<unknown> => onceKnown(() => workflow.getHandle(id).result());
  const know = (id: string): Promise<unknown> => onceKnown(() => workflow.getHandle(id).describe());
  const execute = (graph: Graph, load: typeof RUNS): Action => ({ ...load, once: async () => end(await start(graph)) });
  const { id: polledId } = await runJob(subject, CHAIN, ALONE_POLL_MS);
  const started: string[] = [];
  return {
    poll: { ...REQUESTS, once: () => subject.poll(polledId) },
    start: {
      ...STARTS,
      async once() {
        const id = await start(CHAIN);
        started.push(id);
        await know(id);
      },
      async around(measure) {
        const { worker } = subject.pids();
        process.kill(worker, 'SIGSTOP');
        try {
          return await measure();
        } finally {
          process.kill(worker, 'SIGCONT');
          await Promise.all(started.splice(0).map(end));
        }
      },
    },
    run: execute(CHAIN, RUNS),
    'long run': execute(LONG_CHAIN, LONG_RUNS),
    loop: execute(LOOP, LOOPS),
  };
}

/** Retries until Temporal knows the workflow, because the service accepts a run before it starts the workflow. */
async function onceKnown<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      await pause(10);
    }
  }
}

async function serviceActions({ testbed, isQuick }: RowContext, service: Service, closers: Closer[]): Promise<Actions> {
  const { stack } = service;
  const crowd = isQuick ? CROWD_WHEN_QUICK : CROWD;
  const keys: string[] = [];
  while (keys.length < crowd.keys) keys.push(await unlimitedKey(stack.dataDir));
  const dispatcher = new Agent({ connections: 128 });
  closers.push(() => dispatcher.destroy());
  const ask = async (path: string, headers: Record<string, string> = {}, key = stack.apiKey) => {
    const url = `${stack.stack.api_url}/api/v1${path}`;
    const answer = await request(url, { dispatcher, headers: { ...credentialHeaders(key), ...headers } });
    const text = await answer.body.text();
    if (answer.statusCode > 304) throw new Error(`GET ${path} was answered with ${answer.statusCode}: ${text}`);
    return { text, status: answer.statusCode, etag: String(answer.headers['etag']) };
  };
  const pollOf = (id: string): string => `/workflows/workflow_result/?id=${id}`;
  const { id: polledId } = await runJob(service, CHAIN, ALONE_POLL_MS);
  const { etag } = await ask(pollOf(polledId));
  let liveIds: string[] = [];
  const inCrowd = (once: (key: string, liveId: string) => Promise<unknown>): Action => {
    let next = 0;
    return {
      ...REQUESTS,
      once: () => once(keys[next % keys.length]!, liveIds[next++ % liveIds.length]!),
      async around(measure) {
        liveIds = await startHeld(service, CHAIN, crowd.runs);
        try {
          return await measure();
        } finally {
          await endHeld(service, testbed.targetUrl, liveIds);
        }
      },
    };
  };
  const followed = (hasSucceeded: (id: string) => Promise<boolean>): Action => ({
    ...RUNS,
    async once() {
      const { id } = await service.start(CHAIN, PLAIN_INPUT);
      if (!(await hasSucceeded(id))) throw new Error(`the run ${id} has not succeeded`);
    },
  });
  const alone = (once: () => Promise<unknown>): Action => ({ ...REQUESTS, once });
  return {
    request: alone(() => ask('/models/')),
    'request in a crowd': inCrowd((key) => ask('/models/', {}, key)),
    project: alone(() => ask(`/projects/${service.projectId()}/`)),
    'poll in a crowd': inCrowd((key, liveId) => ask(pollOf(liveId), {}, key)),
    'unchanged poll': alone(async () => {
      const { status } = await ask(pollOf(polledId), { 'if-none-match': etag });
      if (status !== 304) throw new Error(`an unchanged poll was answered with ${status}`);
    }),
    'run, waited for at its start': { ...RUNS, once: () => service.runToEnd(CHAIN, PLAIN_INPUT) },
    'run, waited for later': followed(async (id) => {
      const { text } = await ask(pollOf(id), { prefer: 'wait=55' });
      return (JSON.parse(text) as { data: { status: string } }).data.status === 'succeed';
    }),
    'run, streamed': followed(async (id) => {
      const { text } = await ask(`/workflows/workflow_result/events/?id=${id}`);
      // This text is in the last event, which reports the end of the run.
      return text.includes('"status":"succeed","version"');
    }),
  };
}

function costsOf(of: Measured): Partial<Record<CostName, CpuSeconds>> {
  const above = (more: CpuSeconds | undefined, less: CpuSeconds | undefined, count = 1): CpuSeconds | undefined =>
    more && less && ofEachPart((part) => (more[part] - less[part]) / count);
  const { request: one, project, poll, start, run, loop } = of;
  const costs: Record<CostName, CpuSeconds | undefined> = {
    'a request': one,
    'a request in a crowd': of['request in a crowd'],
    'a GET of a project': project,
    'a poll': poll,
    'a poll in a crowd': of['poll in a crowd'],
    'an unchanged poll (304)': of['unchanged poll'],
    'a start': start,
    'a start and its execution': run,
    'a client that waits at the start': above(of['run, waited for at its start'], run),
    'a client that waits later': above(of['run, waited for later'], run),
    'a stream': above(of['run, streamed'], run),
    'a node': above(of['long run'], run, LONG_CHAIN.calls - CHAIN.calls),
    'an item': loop && ofEachPart((part) => loop[part] / LOOP.calls),
  };
  return Object.fromEntries(Object.entries(costs).filter(([, spent]) => spent !== undefined));
}

function addRound(costs: Cost[], subject: PolledSubject, round: Partial<Record<CostName, CpuSeconds>>): void {
  for (const [what, spent] of Object.entries(round) as [CostName, CpuSeconds][]) {
    let cost = costs.find((each) => each.what === what);
    if (cost === undefined) {
      cost = { subject: subject.name, what, cpuMs: ofEachPart(() => []) };
      costs.push(cost);
    }
    for (const part of PARTS) cost.cpuMs[part].push(spent[part] * 1000);
  }
}
