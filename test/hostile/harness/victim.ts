// The victim: a tenant that saves drawings, starts runs and polls them all the time, and measures how long the service
// takes.
import { setTimeout as pause } from 'node:timers/promises';
import { credentialHeaders, type Envelope } from '../../../harness/client/api-client.js';
import { createTimedClient } from '../../../harness/client/timed-client.js';
import { drawing, http, linkInRow, node, resultOf, trigger } from '../../../harness/drawing/drawing.js';
import type { HttpTarget } from '../../../harness/target/http-target.js';
import type { AccountAt } from './attack.js';

export interface VictimReport {
  pollsMs: number[];
  startsMs: number[];
  savesMs: number[];
  started: number;
  succeeded: number;
  /** Requests that were refused or not answered, and runs that failed. */
  failures: string[];
}

export interface Victim {
  account: AccountAt;
  runWorkflows: number[];
  savedWorkflow: number;
}

const SAVED_BYTES = 300_000;
const POLL_EVERY_MS = 50;
const START_EVERY_MS = 250;
const SAVE_EVERY_MS = 400;
const POLLERS = 2;
const ANSWER_WITHIN_MS = 10_000;

type Post = <T>(path: string, body: object, method?: 'POST' | 'PATCH') => Promise<T>;

export async function createVictim(account: AccountAt, target: HttpTarget): Promise<Victim> {
  const { post, close } = connect(account);
  const make = async (title: string, data: object): Promise<number> =>
    (await post<{ id: number }>('/workflows/', { project: account.projectId, title, data })).id;
  const called = http(`${target.url}/status/200`);
  const calls = drawing(linkInRow([trigger(), called, node('output', { value: resultOf(called) })]));
  const runWorkflows = [await make('calls', calls), await make('waits', waitsForCallback())];
  const savedWorkflow = await make('saved', {});
  await close();
  return { account, runWorkflows, savedWorkflow };
}

/** A drawing in which one node sends the callback for which another one waits. */
function waitsForCallback(): object {
  const [start, wait, end] = [trigger(), node('wait', { mode: 'callback' }), node('output', { value: 'called' })];
  const caller = http(`{{ ${wait.id}.callback_url }}`, {
    method: 'POST',
    body: { answer: 'yes' },
    next_nodes: [end.id],
  });
  start.data.next_nodes = [wait.id, caller.id];
  wait.data.next_nodes = [end.id];
  return drawing([start, wait, caller, end]);
}

/** Sends requests for `measureMs`, and then polls the runs that are still open for at most `endWithinMs`. */
export async function work(
  { account, runWorkflows, savedWorkflow }: Victim,
  { measureMs, endWithinMs }: { measureMs: number; endWithinMs: number },
): Promise<VictimReport> {
  const { post, poll, close } = connect(account);
  const report: VictimReport = { pollsMs: [], startsMs: [], savesMs: [], started: 0, succeeded: 0, failures: [] };
  const stopAt = performance.now() + measureMs;
  const open: string[] = [];
  let inHand = 0;

  const timed = async <T>(what: string, times: number[], request: () => Promise<T>): Promise<T | undefined> => {
    const sentAt = performance.now();
    try {
      const answer = await request();
      times.push(performance.now() - sentAt);
      return answer;
    } catch (error) {
      times.push(performance.now() - sentAt);
      report.failures.push(`${what}: ${(error as Error).message.slice(0, 120)}`);
      await pause(200);
      return undefined;
    }
  };
  const every = async (ms: number, move: (round: number) => Promise<void>): Promise<void> => {
    for (let round = 0; performance.now() < stopAt; round += 1) {
      await move(round);
      await pause(ms);
    }
  };
  const starting = every(START_EVERY_MS, async (round) => {
    const path = `/workflows/${runWorkflows[round % runWorkflows.length]}/run/`;
    const answer = await timed('start', report.startsMs, () =>
      post<{ status: number; data: { id: string } }>(path, {}),
    );
    if (answer === undefined) return;
    report.started += 1;
    if (answer.status === 201) open.push(answer.data.id);
    else report.failures.push(`start: inner status ${answer.status}`);
  });
  const saving = every(SAVE_EVERY_MS, async (round) => {
    const data = { nodes: [], note: `${round}-`.padEnd(SAVED_BYTES, String(performance.now())) };
    await timed('save', report.savesMs, () => post(`/workflows/${savedWorkflow}/`, { data }, 'PATCH'));
  });
  const over = new AbortController();
  const working = Promise.all([starting, saving]).finally(() => over.abort());
  const giveUpAt = stopAt + endWithinMs;
  const polling = async (): Promise<void> => {
    while (!over.signal.aborted || (open.length + inHand > 0 && performance.now() < giveUpAt)) {
      const runId = open.shift();
      if (runId !== undefined) {
        inHand += 1;
        const status = await timed('poll', report.pollsMs, () => poll(runId));
        if (status === 'succeed') report.succeeded += 1;
        else if (status === 'failed') report.failures.push(`run ${runId} failed`);
        else open.push(runId);
        inHand -= 1;
      }
      await pause(POLL_EVERY_MS);
    }
  };
  await Promise.all([working, ...Array.from({ length: POLLERS }, polling)]);
  await close();
  return report;
}

/** Opens new connections for each round, because an attack may block only new connections. */
function connect({ apiUrl, apiKey }: AccountAt) {
  const headers = credentialHeaders(apiKey);
  const client = createTimedClient(`${apiUrl}/api/v1`, { headers, connections: 8, timeoutMs: ANSWER_WITHIN_MS });
  const post: Post = async <T>(path: string, body: object, method: 'POST' | 'PATCH' = 'POST') =>
    (await client.send<T>(method, path, body)).body;
  return {
    post,
    poll: async (runId: string) =>
      (await client.send<Envelope>('GET', `/workflows/workflow_result/?id=${runId}`)).body.data.status,
    close: () => client.close(),
  };
}
