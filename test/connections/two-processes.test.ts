import assert from 'node:assert/strict';
import { readSecrets } from '../../cli/embedded/secrets-file.js';
import { createConnections, type Connections } from '../../connections/open-connection.js';
import type { StoredTokens } from '../../connections/tokens.js';
import { startConnectionWait } from '../../db/connections/connection-waits-repository.js';
import { createDatabase, type Database } from '../../db/core/client.js';
import { createSecretBox, type SecretBox } from '../../db/core/secret-box.js';
import { createOutgoingClient, type OutgoingClient } from '../../outgoing/outgoing-client.js';
import { createAccount, type Account } from '../api/accounts.js';
import { oauthConnection, readConnection, signIn } from '../api/connections/sign-in.js';
import { openRun } from '../db/open-run.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { startTokenProvider, type TokenProvider } from '../support/token-provider.js';

const HOUR_MS = 3_600_000;

describe('two processes that need new tokens of a connection', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let projectId: number;
  let provider: TokenProvider;
  let db: Database;
  let box: SecretBox;
  let outgoing: OutgoingClient;
  let [one, other]: Connections[] = [];

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    projectId = await account.api.createProject();
    db = database(4);
    box = createSecretBox([Buffer.from(readSecrets(stack.dataDir)!.SECRETS_KEY, 'base64')]);
    outgoing = createOutgoingClient({ allowPrivateNetwork: true });
    [one, other] = [
      createConnections({ db, secretBox: box, outgoing }),
      createConnections({ db, secretBox: box, outgoing }),
    ];
  });
  const database = (poolMax: number): Database =>
    createDatabase({ url: stack.stack.database_url, poolMax, applicationName: 'test', onError: () => undefined });
  beforeEach(async () => {
    provider = await startTokenProvider();
  });
  afterEach(() => provider.close());
  after(async () => {
    await outgoing.close();
    await db.destroy();
  });

  /** Creates a connection whose tokens are valid for an hour and expire in `leftMs`. */
  async function connect(name: string, leftMs: number): Promise<{ id: number; token: string }> {
    const id = await oauthConnection(account, projectId, provider, name);
    await signIn(stack, account, { projectId, id });
    const [row] = await queryDatabase<{ sealed: Buffer }>(
      stack,
      'SELECT tokens_enc AS sealed FROM connections WHERE id = $1',
      [id],
    );
    const tokens = JSON.parse(box.open(row!.sealed, 'connection-tokens', projectId, id)) as StoredTokens;
    const changed: StoredTokens = { ...tokens, lifetimeMs: HOUR_MS, expiresAtMs: Date.now() + leftMs };
    const sealed = box.seal(JSON.stringify(changed), 'connection-tokens', projectId, id);
    await queryDatabase(stack, 'UPDATE connections SET tokens_enc = $2 WHERE id = $1', [id, sealed]);
    return { id, token: tokens.accessToken };
  }

  /**
   * Holds the first request for new tokens until it is released: before the tokens are made, or before they are sent.
   */
  function holdFirst(at: 'beforeTokens' | 'beforeAnswer' = 'beforeTokens'): {
    reached: Promise<void>;
    release: () => void;
  } {
    let [release, reach] = [(): void => undefined, (): void => undefined];
    const released = new Promise<void>((resolve) => (release = resolve));
    const reached = new Promise<void>((resolve) => (reach = resolve));
    let isFirst = true;
    provider[at] = async () => {
      if (!isFirst) return;
      isFirst = false;
      reach();
      await released;
    };
    return { reached, release: () => release() };
  }

  const never = (): AbortSignal => new AbortController().signal;
  const open = async (
    connections: Connections | undefined,
    id: number,
    signal = never(),
  ): Promise<string | undefined> => {
    const { credential } = await connections!.open(projectId, id, signal);
    return credential.authorize({ url: new URL(provider.url), headers: {} }).headers['authorization']?.slice(7);
  };

  it('are served by the old ones while these last, and by the new ones when they have come', async () => {
    const { id, token } = await connect('ageing', 300_000);
    const hold = holdFirst();
    const first = open(one, id);
    await hold.reached;
    assert.equal(await open(other, id), token);
    hold.release();
    const fresh = await first;
    assert.notEqual(fresh, token);
    assert.deepEqual([await open(other, id), provider.refreshes], [fresh, 1]);
  });

  it('are served by the old ones while the provider cannot be reached', async () => {
    const { id, token } = await connect('away', 300_000);
    provider.answer = { status: 503, body: {} };
    assert.equal(await open(one, id), token);
    provider.answer = undefined;
    assert.notEqual(await open(other, id), token);
  });

  it('get the same new ones when the old ones are over', async () => {
    const { id, token } = await connect('over', 1_000);
    const hold = holdFirst();
    const first = open(one, id);
    await hold.reached;
    const second = open(other, id);
    hold.release();
    const [mine, theirs] = await Promise.all([first, second]);
    assert.ok(mine !== undefined && mine !== token);
    assert.deepEqual([theirs, provider.refreshes], [mine, 1]);
  });

  it('do not lose what one has got when another, that was held up, is refused later', async () => {
    const { id } = await connect('held up', 1_000);
    const hold = holdFirst();
    const first = open(one, id);
    await hold.reached;
    await queryDatabase(stack, 'UPDATE connections SET leased_until = now() WHERE id = $1', [id]);
    const fresh = await open(other, id);
    hold.release();
    // The provider refuses the refresh token of the first request, because the other process has used it.
    assert.equal(await first, fresh);
    assert.equal((await readConnection(account, projectId, id)).status, 'ready');
    assert.equal(await open(one, id), fresh);
  });

  it('keep what one has got when another has found meanwhile that the old ones are gone, and end the waits', async () => {
    const { id, token } = await connect('rotated', 1_000);
    const hold = holdFirst('beforeAnswer');
    const first = open(one, id);
    await hold.reached;
    await queryDatabase(stack, 'UPDATE connections SET leased_until = now() WHERE id = $1', [id]);
    await assert.rejects(open(other, id), { code: 'needs_authorization' });
    const run = await openRun(db, ['http']);
    const node = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await startConnectionWait(db, node, { connectionId: id, untilMs: Date.now() + HOUR_MS });
    hold.release();
    const fresh = await first;
    assert.notEqual(fresh, token);
    const waits = await queryDatabase(stack, 'SELECT FROM waits WHERE run_id = $1 AND closed_at IS NOT NULL', [run.id]);
    assert.equal(waits.length, 1, 'the wait has ended, and the reconciler wakes the run');
    assert.equal((await readConnection(account, projectId, id)).status, 'ready');
    assert.equal(await open(other, id), fresh);
  });

  it('keep what one has got when another call is refused meanwhile', async () => {
    const { id } = await connect('refused meanwhile', 300_000);
    const used = await other!.open(projectId, id, never());
    const hold = holdFirst('beforeAnswer');
    const first = one!.renew({ ...used, isNew: false }, never());
    await hold.reached;
    await other!.note(used, true);
    hold.release();
    assert.equal((await first)?.tokensVersion, used.tokensVersion + 1);
    assert.equal((await readConnection(account, projectId, id)).status, 'ready');
  });

  for (const saidLifetime of [0, 1]) {
    it(`use a token that has come for the calls that need it, and ask once: expires_in ${saidLifetime}, and a slow database`, async () => {
      const { id, token } = await connect(`short ${saidLifetime}`, 1_000);
      const elsewhere = watched(db);
      const third = createConnections({ db: elsewhere.db, secretBox: box, outgoing });
      provider.saidLifetime = saidLifetime;
      const hold = holdFirst();
      // By the only connection, all of them read the old tokens before the first of them asks for new ones.
      const single = database(1);
      const fourth = createConnections({ db: single, secretBox: box, outgoing });
      const here = Array.from({ length: 10 }, () => open(fourth, id));
      await hold.reached;
      const there = open(third, id);
      await elsewhere.updated;
      await withClock({ stepMs: 1_000 }, async () => {
        hold.release();
        const [fresh, ...others] = await Promise.all([...here, there]);
        assert.notEqual(fresh, token);
        assert.deepEqual(new Set(others), new Set([fresh]));
        assert.equal(provider.refreshes, 1);
      });
      await single.destroy();
    });
  }

  it('ask once for each call at most where every token is over at once', async () => {
    const { id } = await connect('always over', 1_000);
    provider.saidLifetime = 1;
    await withClock({ stepMs: 2_000 }, async () => {
      for (let call = 1; call <= 3; call += 1) {
        await open(one, id);
        assert.ok(provider.refreshes <= call, String(provider.refreshes));
      }
    });
  });

  it('are served by a token of unknown lifetime until it is refused, and ask for no other', async () => {
    const { id, token } = await connect('unknown lifetime', 1_000);
    provider.saidLifetime = 0;
    const fresh = await open(one, id);
    assert.notEqual(fresh, token);
    await withClock({ stepMs: 30 * 24 * HOUR_MS }, async () => {
      for (const connections of [one, other, one]) assert.equal(await open(connections, id), fresh);
    });
    assert.equal(provider.refreshes, 1);
    const used = await other!.open(projectId, id, never());
    const renewed = await other!.renew(used, never());
    assert.equal(renewed?.tokensVersion, used.tokensVersion + 1);
    assert.equal(provider.refreshes, 2);
  });

  it('stop waiting with the signal of the call, and what the provider gives then is kept', async () => {
    const { id, token } = await connect('cancelled', 1_000);
    const hold = holdFirst();
    const stop = new AbortController();
    const [first, second] = [open(one, id, stop.signal), open(other, id, stop.signal)];
    await hold.reached;
    stop.abort(new Error('the run was cancelled'));
    for (const call of [first, second, open(one, id, stop.signal)]) await assert.rejects(call, /the run was cancelled/);
    hold.release();
    const fresh = await open(other, id);
    assert.notEqual(fresh, token);
    assert.equal(provider.refreshes, 1);
  });

  it('wait no longer than the lease of another can last', async () => {
    const { id } = await connect('held for ever', 1_000);
    await queryDatabase(stack, `UPDATE connections SET leased_until = now() + interval '1 hour' WHERE id = $1`, [id]);
    await withClock({ stepMs: 10_000 }, async () => {
      await assert.rejects(open(one, id), { name: 'TokenError', outcome: 'unreachable', message: /not there yet/ });
    });
    assert.equal(provider.refreshes, 0);
  });

  it('store what has come when the database answers again, and give up after twenty seconds', async () => {
    const { id, token } = await connect('database away', 1_000);
    const broken = watched(db);
    const third = createConnections({ db: broken.db, secretBox: box, outgoing });
    broken.failures = 2;
    const fresh = await open(third, id);
    assert.notEqual(fresh, token);
    assert.deepEqual([await open(other, id), provider.refreshes, broken.failures], [fresh, 1, 0]);

    const lost = await connect('database gone', 1_000);
    broken.failures = Infinity;
    await withClock({ stepMs: 5_000 }, () => assert.rejects(open(third, lost.id), /the database is away/));
  });

  /** Each reading of the clock is `stepMs` after the one before. */
  async function withClock({ stepMs }: { stepMs: number }, act: () => Promise<void>): Promise<void> {
    const real = Date.now;
    let aheadMs = 0;
    Date.now = () => real() + (aheadMs += stepMs);
    try {
      await act();
    } finally {
      Date.now = real;
    }
  }

  /**
   * `updated`: resolves once a statement has tried to take the lease. `failures`: the number of next transactions that
   * fail.
   */
  function watched(real: Database): { db: Database; updated: Promise<void>; failures: number } {
    let seen = (): void => undefined;
    const updated = new Promise<void>((resolve) => (seen = resolve));
    const state = { db: real, updated, failures: 0 };
    state.db = new Proxy(real, {
      get(target, key) {
        if (key === 'updateTable') seen();
        if (key === 'transaction' && state.failures > 0) {
          state.failures -= 1;
          throw new Error('the database is away');
        }
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    return state;
  }
});
