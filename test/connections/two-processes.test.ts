import assert from 'node:assert/strict';
import { readSecrets } from '../../cli/embedded/secrets-file.js';
import { createConnections, type Connections } from '../../connections/open-connection.js';
import type { StoredTokens } from '../../connections/tokens.js';
import { createDatabase, type Database } from '../../db/core/client.js';
import { createSecretBox, type SecretBox } from '../../db/core/secret-box.js';
import { createOutgoingClient, type OutgoingClient } from '../../outgoing/outgoing-client.js';
import { createAccount, type Account } from '../api/accounts.js';
import { oauthConnection, readConnection, signIn } from '../api/connections/sign-in.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../support/stack.js';
import { startTokenProvider, type TokenProvider } from '../support/token-provider.js';

const HOUR_MS = 3_600_000;

describe('two processes that need new tokens of a connection', function () {
  this.timeout(60_000);
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
    db = createDatabase({
      url: stack.stack.database_url,
      poolMax: 4,
      applicationName: 'test',
      onError: () => undefined,
    });
    box = createSecretBox([Buffer.from(readSecrets(stack.dataDir)!.SECRETS_KEY, 'base64')]);
    outgoing = createOutgoingClient({ allowPrivateNetwork: true });
    [one, other] = [
      createConnections({ db, secretBox: box, outgoing }),
      createConnections({ db, secretBox: box, outgoing }),
    ];
  });
  beforeEach(async () => {
    provider = await startTokenProvider();
  });
  afterEach(() => provider.close());
  after(async () => {
    await outgoing.close();
    await db.destroy();
  });

  /** A connection whose tokens, of an hour, end so soon. */
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

  /** Holds the first request for new tokens until it is released. */
  function holdFirst(): { reached: Promise<void>; release: () => void } {
    let [release, reach] = [(): void => undefined, (): void => undefined];
    const released = new Promise<void>((resolve) => (release = resolve));
    const reached = new Promise<void>((resolve) => (reach = resolve));
    let isFirst = true;
    provider.beforeTokens = async () => {
      if (!isFirst) return;
      isFirst = false;
      reach();
      await released;
    };
    return { reached, release: () => release() };
  }

  const open = async (connections: Connections | undefined, id: number): Promise<string | undefined> => {
    const { credential } = await connections!.open(projectId, id);
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
    // Its refresh token was used by the other one meanwhile.
    assert.equal(await first, fresh);
    assert.equal((await readConnection(account, projectId, id)).status, 'ready');
    assert.equal(await open(one, id), fresh);
  });
});
