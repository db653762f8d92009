import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { createAccount, type Account } from '../api/accounts.js';
import { oauthConnection, readConnection, signIn } from '../api/connections/sign-in.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, linkInRow, trigger } from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import { killAndAwaitRestart } from '../../harness/stack/kill-part.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';
import { startTokenProvider, type TokenProvider } from '../support/token-provider.js';
import { untilWaiting } from '../support/waiting.js';

describe('connections and workers that die while they ask for new tokens', function () {
  this.timeout(120_000);
  let stack: StartedStack;
  let account: Account;
  let provider: TokenProvider;
  let projectId: number;

  before(async () => {
    [stack, provider] = await Promise.all([startStack(), startTokenProvider()]);
    account = await createAccount(stack);
    projectId = await account.api.createProject();
  });
  beforeEach(() => {
    provider.accepted.length = 0;
    provider.refreshes = 0;
  });
  after(async () => {
    await provider.close();
    await stack.stop();
  });

  /** Starts a run of two calls that must not be repeated, with tokens that the API no longer accepts. */
  async function startCalls(name: string) {
    const id = await oauthConnection(account, projectId, provider, name);
    await signIn(stack, account, { projectId, id });
    provider.expireTokens();
    const calls = ['one', 'two'].map((each) =>
      http(`${provider.url}/${name}/${each}`, { connection: id, method: 'POST', body: { each } }),
    );
    const begin = trigger();
    linkInRow([begin, ...calls]);
    const workflowId = await account.api.createWorkflow(projectId, drawing([begin, ...calls]));
    return { id, runId: (await account.api.run(workflowId)).data.id, calls };
  }

  /** Simulates that the lease has expired. */
  const endLease = (id: number) =>
    queryDatabase(stack, 'UPDATE connections SET leased_until = now() WHERE id = $1 AND lease IS NOT NULL', [id]);

  it('before the provider has answered: the next worker asks again, and each call is made once', async () => {
    const asked = held(provider, 'beforeTokens');
    const { id, runId } = await startCalls('unanswered');
    await asked.reached;
    await killAndAwaitRestart(stack, 'worker');
    provider.beforeTokens = undefined;
    await endLease(id);
    const { data } = await account.api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(data.status, 'succeed', JSON.stringify(data));
    assert.deepEqual(provider.accepted, ['POST /unanswered/one', 'POST /unanswered/two']);
    assert.equal(provider.refreshes, 1);
    assert.equal((await readConnection(account, projectId, id)).status, 'ready');
  });

  it('after the provider has rotated the token: the run waits for a sign-in, and each call is made once', async () => {
    const answered = held(provider, 'beforeAnswer');
    const { id, runId, calls } = await startCalls('rotated');
    await answered.reached;
    const locker = new pg.Client({ connectionString: stack.stack.database_url });
    await locker.connect();
    try {
      await locker.query('BEGIN');
      await locker.query('SELECT FROM connections WHERE id = $1 FOR NO KEY UPDATE', [id]);
      provider.beforeAnswer = undefined;
      answered.release();
      // The new tokens have arrived, and the lock blocks the statement that stores them.
      const blocked = await eventually(async () => {
        const { rows } = await locker.query<{ pid: number }>(
          `SELECT pid FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid)) AND query LIKE 'update%'`,
        );
        return rows[0]?.pid;
      });
      const worker = stack.stack.pids.worker!;
      process.kill(worker, 'SIGKILL');
      // The database would still execute a statement that the killed process has sent.
      await locker.query('SELECT pg_terminate_backend($1)', [blocked]);
      await locker.query('UPDATE connections SET leased_until = now() WHERE id = $1', [id]);
      await locker.query('COMMIT');
    } finally {
      await locker.end();
    }
    const { waiting } = await untilWaiting(account.api, runId, calls[0]!.id);
    assert.equal(waiting?.for, 'connection');
    const lost = await readConnection(account, projectId, id);
    assert.deepEqual(
      [lost.status, lost.status_reason],
      ['needs_authorization', 'The provider no longer accepts what was granted.'],
    );
    assert.deepEqual([provider.accepted, provider.refreshes], [[], 2]);
    const end = await signIn(stack, account, { projectId, id });
    assert.equal(end.searchParams.get('error'), null);
    const { data } = await account.api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(data.status, 'succeed', JSON.stringify(data));
    assert.deepEqual(provider.accepted, ['POST /rotated/one', 'POST /rotated/two']);
    const told = await queryDatabase<{ count: number }>(
      stack,
      `SELECT count(*)::integer AS count FROM waits WHERE run_id = $1 AND kind = 'connection'`,
      [runId],
    );
    assert.deepEqual(told, [{ count: 1 }]);
  });
});

/** Holds requests for refreshed tokens at this point until they are released. Sign-ins are not held. */
function held(provider: TokenProvider, at: 'beforeTokens' | 'beforeAnswer') {
  let release = (): void => undefined;
  let reach = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const reached = new Promise<void>((resolve) => (reach = resolve));
  provider[at] = async (grant) => {
    if (grant !== 'refresh_token') return;
    reach();
    await released;
  };
  return { reached: Promise.race([reached, pause(30_000, undefined, { ref: false }).then(tooLate)]), release };
}

function tooLate(): never {
  throw new Error('nobody has asked for new tokens');
}
