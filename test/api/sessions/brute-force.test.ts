import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient } from '../../../harness/client/api-client.js';
import { startStack, type TestStack } from '../../../harness/stack/stack.js';
import { startApiProcess, type ApiProcess } from '../../../harness/stack/api-process.js';
import { Browser, createPerson, type Person } from './people.js';

const ATTEMPTS = 10_000;
const AT_ONCE = 100;
const HOME = '192.0.2.7';

describe('10,000 wrong logins from 10,000 addresses', function () {
  this.timeout(300_000);
  let stack: TestStack;
  let api: ApiProcess;
  let person: Person;

  before(async () => {
    stack = await startStack();
    api = await startApiProcess(stack, { TRUSTED_PROXIES: '127.0.0.1' });
    person = await createPerson(stack, { slowHash: true });
  });
  after(async () => {
    await api.stop();
    await stack.stop();
  });

  const from = (address: string) => ({ 'x-forwarded-for': address });
  const logIn = (address: string) => new Browser(api.apiUrl).logIn(person, from(address));

  async function timed(work: () => Promise<unknown>): Promise<number> {
    const startedAt = performance.now();
    await work();
    return performance.now() - startedAt;
  }

  const quantile = (values: number[], part: number): number =>
    values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!;

  it('never slow the right user by more than a minute, nor the rest of the service', async () => {
    assert.equal((await logIn(HOME)).status, 200);
    const attack = { sent: 0, isOver: false };
    const outcomes = new Map<number, number>();
    const attackers = Array.from({ length: AT_ONCE }, async () => {
      while (!attack.isOver || attack.sent < ATTEMPTS) {
        const index = (attack.sent += 1);
        const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
        const guess = { email: person.email, password: `wrong ${index}` };
        const { status } = await new Browser(api.apiUrl).logIn(guess, from(address));
        outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
      }
    });
    await pause(2_000);
    const others: number[] = [];
    const atHome: number[] = [];
    const watching = (async () => {
      while (!attack.isOver) {
        others.push(await timed(() => createApiClient(api.apiUrl, stack.apiKey).get('/projects/')));
        atHome.push(
          await timed(async () => {
            assert.equal((await logIn(HOME)).status, 200);
          }),
        );
        await pause(200);
      }
    })();
    const elsewhereMs = await timed(async () => {
      const deadline = performance.now() + 120_000;
      for (;;) {
        const { status, headers } = await logIn('198.51.100.9');
        if (status === 200) return;
        assert.ok(performance.now() < deadline, `still refused with ${status}`);
        await pause(Number(headers.get('retry-after')) * 1000);
      }
    });
    attack.isOver = true;
    await Promise.all([watching, ...attackers]);
    const heard = outcomes.get(401) ?? 0;
    const figures = {
      attempts: attack.sent,
      heard,
      at_home_max_ms: Math.round(Math.max(...atHome)),
      from_a_new_address_ms: Math.round(elsewhereMs),
      other_requests_p99_ms: Math.round(quantile(others, 0.99)),
    };
    process.stderr.write(`Brute force: ${JSON.stringify(figures)}\n`);
    assert.ok(attack.sent >= ATTEMPTS);
    assert.deepEqual(
      [...outcomes.keys()].filter((status) => ![401, 429, 503].includes(status)),
      [],
    );
    assert.ok(heard <= 200, `${heard} passwords were tried`);
    assert.ok(elsewhereMs < 60_000);
    assert.ok(Math.max(...atHome) < 60_000);
    assert.ok(quantile(others, 0.99) < 2_000);
  });

  it('an account that exists takes as long as one that does not', async () => {
    const [known, unknown]: [number[], number[]] = [[], []];
    for (let index = 0; index < 30; index += 1) {
      const target = await createPerson(stack, { slowHash: true });
      const address = from(`172.16.${index}.1`);
      const guess = (email: string) => () => new Browser(api.apiUrl).logIn({ email, password: 'wrong' }, address);
      known.push(await timed(guess(target.email)));
      unknown.push(await timed(guess(`${randomUUID()}@example.com`)));
    }
    const [knownMs, unknownMs] = [quantile(known, 0.5), quantile(unknown, 0.5)];
    const spreadMs = quantile(known, 0.75) - quantile(known, 0.25);
    const figures = [knownMs, unknownMs, spreadMs].map((value) => value.toFixed(1));
    process.stderr.write(
      `Median login of a known account ${figures[0]} ms, unknown ${figures[1]} ms, spread ${figures[2]} ms\n`,
    );
    assert.ok(Math.abs(knownMs - unknownMs) < Math.max(spreadMs, 0.1 * unknownMs));
  });
});
