// Repeated deliveries while API processes are killed: each event starts one run.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { killAndAwaitRestart } from '../../../harness/stack/kill-part.js';
import { startStack, type StartedStack } from '../../../harness/stack/stack.js';
import { startApiProcess, type ApiProcess } from '../../../harness/stack/api-process.js';
import { createRandom } from '../fuzz/random.js';
import { atProcess, deliverTo, endMinute, gitHubHeaders, makeStartHook, type DeliveryAnswer } from './hook-sender.js';

const EVENTS = 200;
const DELIVERIES = 1_000;
const AT_ONCE = 50;
const KILLS = 3;
const SEED = 20_260_601;
/** More than a delivery needs while a process restarts. */
const ATTEMPTS = 1_000;

describe('hooks through crashes', function () {
  this.timeout(300_000);
  let stack: StartedStack;
  let second: ApiProcess;

  before(async () => {
    stack = await startStack();
    second = await startApiProcess(stack);
  });
  after(async () => {
    await second.stop();
    await stack.stop();
  });

  it(`${DELIVERIES} deliveries of ${EVENTS} events in any order, API processes killed meanwhile, start ${EVENTS} runs`, async () => {
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const id = await api.createWorkflow(await api.createProject(), chain(2));
    const hook = await makeStartHook(api, id, { verify: 'hmac-sha256' });
    const random = createRandom(SEED);
    const events = Array.from({ length: EVENTS }, () => randomUUID());
    const deliveries = Array.from({ length: DELIVERIES }, (_, index) => events[index % EVENTS]!)
      .map((event) => ({ event, place: random.below(2 ** 32) }))
      .toSorted((one, other) => one.place - other.place);
    const runs = new Map<string, Set<string>>();
    let [done, lost] = [0, 0];

    /** Repeats the delivery until it is accepted, as senders do. After a 429, ends the minute of the rate limit. */
    const deliver = async (event: string): Promise<DeliveryAnswer> => {
      const body = JSON.stringify({ event });
      for (let attempt = 1; ; attempt += 1) {
        const url = random.chance(0.5) ? atProcess(hook.url, stack.apiUrl) : atProcess(hook.url, second.apiUrl);
        const answer = await deliverTo(url, body, await gitHubHeaders(hook.secret!, event, body)).catch(
          () => undefined,
        );
        if (answer?.status === 202) return answer;
        assert.ok(attempt < ATTEMPTS, `the last answer is ${answer?.status}: ${answer?.text}`);
        if (answer === undefined || answer.status >= 500) lost += 1;
        else assert.equal(answer.status, 429, answer.text);
        if (answer?.status === 429) await endMinute(stack, hook.id);
        else await pause(50 + random.below(200));
      }
    };
    const queue = deliveries.values();
    const work = async (): Promise<void> => {
      for (const { event } of queue) {
        const { body } = await deliver(event);
        runs.set(event, (runs.get(event) ?? new Set()).add(body.id));
        done += 1;
      }
    };
    const kill = async (): Promise<void> => {
      for (let count = 1; count <= KILLS; count += 1) {
        await eventually(() => done >= (count * DELIVERIES) / (KILLS + 1), { timeoutMs: 120_000, intervalMs: 5 });
        if (count % 2 === 1) await killAndAwaitRestart(stack, 'api');
        else {
          process.kill(second.pid, 'SIGKILL');
          second = await startApiProcess(stack);
        }
      }
    };
    await Promise.all([...Array.from({ length: AT_ONCE }, work), kill()]);
    assert.ok(lost > 0, 'a kill met deliveries');
    assert.equal(runs.size, EVENTS);
    for (const [event, ids] of runs) assert.equal(ids.size, 1, `${event} has started ${[...ids].join(', ')}`);
    await eventually(
      async () => {
        const rows = await queryDatabase<{ status: string; count: number }>(
          stack,
          'SELECT status, count(*)::integer AS count FROM runs WHERE workflow_id = $1 GROUP BY status',
          [id],
        );
        assert.deepEqual(rows, [{ status: 'Succeeded', count: EVENTS }]);
        return true;
      },
      { timeoutMs: 120_000, intervalMs: 500 },
    );
  });
});
