import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startApiProcess, type ApiProcess } from '../../../harness/stack/api-process.js';
import { Browser, createPerson, type AuthAnswer, type Person } from './people.js';

const WRONG = 'not the password';

describe('guessing passwords', function () {
  this.timeout(120_000);
  let stack: TestStack;
  /** A process that trusts the test as its proxy. */
  let api: ApiProcess;
  let person: Person;
  let addresses = 0;

  before(async () => {
    stack = await sharedStack();
    api = await startApiProcess(stack, { TRUSTED_PROXIES: '127.0.0.0/8,::1' });
  });
  after(() => api.stop());
  beforeEach(async () => {
    person = await createPerson(stack);
  });

  /** Returns an address that no other test uses. */
  const newAddress = (): string => {
    addresses += 1;
    return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
  };
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const guess = (address: string, email = person.email): Promise<AuthAnswer> =>
    new Browser(api.apiUrl).logIn({ email, password: WRONG }, from(address));
  const logIn = (address: string): Promise<AuthAnswer> => new Browser(api.apiUrl).logIn(person, from(address));
  /** Simulates that time has passed: `minutes` ends all minutes of counted failures, `turns` ends all waits. */
  const later = async (what: 'minutes' | 'turns'): Promise<void> => {
    const text = {
      minutes: `UPDATE login_failures SET ends_at = now() - interval '1 second'`,
      turns: `UPDATE login_waits SET ready_at = now()`,
    };
    await queryDatabase(stack, text[what]);
  };
  const statuses = (answers: AuthAnswer[]): number[] => answers.map(({ status }) => status).toSorted((a, b) => a - b);

  /** Guesses from so many addresses that new addresses have to wait. */
  async function attack(email = person.email): Promise<void> {
    const answers = await Promise.all(Array.from({ length: 30 }, () => guess(newAddress(), email)));
    assert.ok(statuses(answers).filter((status) => status === 429).length >= 10, String(statuses(answers)));
  }

  it('after five failures in a minute from one address the account is closed to it, with the right password, too', async () => {
    const address = newAddress();
    for (let failures = 0; failures < 5; failures += 1) assert.equal((await guess(address)).status, 401);
    const { status, body, headers } = await guess(address);
    assert.deepEqual([status, body.code], [429, 'throttled']);
    const seconds = Number(headers.get('retry-after'));
    assert.ok(seconds > 0 && seconds <= 60, String(seconds));
    assert.equal(
      body.detail,
      `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.`,
    );
    assert.equal((await logIn(address)).status, 429);
    await later('minutes');
    assert.equal((await logIn(address)).status, 200);
  });

  it('attempts at the same moment are counted before they are made', async () => {
    const address = newAddress();
    const answers = await Promise.all(Array.from({ length: 12 }, () => guess(address)));
    assert.deepEqual(statuses(answers), [...Array<number>(5).fill(401), ...Array<number>(7).fill(429)]);
  });

  it('an account that does not exist is counted and answered in the same way', async () => {
    const [address, email] = [newAddress(), `${randomUUID()}@example.com`];
    const answers: AuthAnswer[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      answers.push(await guess(address, attempt % 2 === 0 ? email : email.toUpperCase()));
    }
    assert.deepEqual(statuses(answers), [401, 401, 401, 401, 401, 429]);
    await attack(`${randomUUID()}@example.com`);
  });

  it('a successful login is not counted, and the failures before it still are', async () => {
    const address = newAddress();
    for (let failures = 0; failures < 4; failures += 1) await guess(address);
    for (let time = 0; time < 3; time += 1) assert.equal((await logIn(address)).status, 200);
    assert.deepEqual([(await guess(address)).status, (await guess(address)).status], [401, 429]);
  });

  it('failures of one address keep no other address out, nor another account of the same one', async () => {
    const address = newAddress();
    for (let failures = 0; failures < 6; failures += 1) await guess(address);
    assert.equal((await logIn(newAddress())).status, 200);
    const other = await createPerson(stack);
    assert.equal((await new Browser(api.apiUrl).logIn(other, from(address))).status, 200);
  });

  it('the addresses of one IPv6 network are one', async () => {
    const network = `2a00:1:${randomUUID().slice(0, 4)}`;
    const answers: AuthAnswer[] = [];
    for (let host = 1; host <= 6; host += 1) answers.push(await guess(`${network}:5::${host}`));
    assert.deepEqual(statuses(answers), [401, 401, 401, 401, 401, 429]);
    assert.equal((await logIn(`${network}:6::1`)).status, 200);
  });

  it('headers that the client sends do not change the counted address', async () => {
    const untrusting = new Browser(stack.apiUrl);
    const answers: AuthAnswer[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const headers = { ...from(newAddress()), forwarded: `for=${newAddress()}`, 'x-real-ip': newAddress() };
      answers.push(await untrusting.logIn({ email: person.email, password: WRONG }, headers));
    }
    assert.deepEqual(statuses(answers), [401, 401, 401, 401, 401, 429]);
    // The addresses that a client sends to a trusted proxy come before the one that the proxy adds.
    const address = newAddress();
    for (let attempt = 0; attempt < 5; attempt += 1) await guess(`${newAddress()}, ${address}`);
    assert.equal((await guess(`${newAddress()}, ${address}`)).status, 429);
  });

  describe('from many addresses', () => {
    it('the user goes on signing in where the user has signed in before', async () => {
      const home = newAddress();
      assert.equal((await logIn(home)).status, 200);
      await attack();
      assert.equal((await logIn(home)).status, 200);
    });

    it('the user is let in from a new address after half a minute, while the attack goes on', async () => {
      await attack();
      const address = newAddress();
      const { status, headers } = await logIn(address);
      assert.equal(status, 429);
      const seconds = Number(headers.get('retry-after'));
      assert.ok(seconds >= 29 && seconds <= 30, String(seconds));
      // A premature attempt does not change the wait.
      assert.ok(Number((await logIn(address)).headers.get('retry-after')) <= seconds);
      await later('turns');
      await attack();
      assert.equal((await logIn(address)).status, 200);
    });

    it('a stranger whose turn has come has one attempt, and then waits again', async () => {
      await attack();
      const address = newAddress();
      assert.equal((await guess(address)).status, 429);
      await later('turns');
      assert.deepEqual([(await guess(address)).status, (await guess(address)).status], [401, 429]);
    });

    it('300 addresses that guess once each have at most 20 passwords checked', async () => {
      const answers: AuthAnswer[] = [];
      for (let round = 0; round < 10; round += 1) {
        answers.push(...(await Promise.all(Array.from({ length: 30 }, () => guess(newAddress())))));
      }
      const heard = statuses(answers).filter((status) => status === 401).length;
      assert.ok(heard <= 20, `${heard} were heard`);
      assert.equal(statuses(answers).filter((status) => status === 429).length, 300 - heard);
    });
  });

  it('one address that tries many accounts is stopped after a hundred', async () => {
    await later('minutes');
    const address = newAddress();
    const guessTen = async (): Promise<number[]> => {
      const answers: AuthAnswer[] = [];
      const tried = Array.from({ length: 10 }, () => `${randomUUID()}@example.com`);
      for (const email of tried) answers.push(await guess(address, email));
      return statuses(answers);
    };
    assert.deepEqual(await guessTen(), Array<number>(10).fill(401));
    // A hundred attempts may take longer than the minute in which they count, so these ten are stored as ninety-five.
    const text = `UPDATE login_failures SET failures = 95, ends_at = now() + interval '1 minute'
      WHERE failures = 10 AND ends_at > now() RETURNING 1`;
    assert.equal((await queryDatabase(stack, text)).length, 1);
    assert.deepEqual(await guessTen(), [...Array<number>(5).fill(401), ...Array<number>(5).fill(429)]);
    // After the minute, logins from this address are accepted again.
    await later('minutes');
    assert.equal((await logIn(address)).status, 200);
  });

  it('keeps no account and no address in the clear', async () => {
    await guess(newAddress());
    const rows = await queryDatabase<{ key: Buffer }>(stack, 'SELECT key FROM login_failures');
    assert.ok(rows.length > 0);
    for (const { key } of rows) assert.equal(key.length, 32);
  });
});
