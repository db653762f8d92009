import assert from 'node:assert/strict';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, linkInRow, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { startTokenProvider, type TokenProvider } from '../support/token-provider.js';
import { createAccount, type Account } from '../api/accounts.js';
import { createConnection, oauthConnection, readConnection, signIn } from '../api/connections/sign-in.js';

describe('runs that use connections', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let provider: TokenProvider;
  let target: HttpTarget;
  let projectId: number;

  before(async () => {
    stack = await sharedStack();
    [account, target] = await Promise.all([createAccount(stack), startHttpTarget()]);
    projectId = await account.api.createProject();
  });
  beforeEach(async () => {
    provider = await startTokenProvider();
  });
  afterEach(() => provider.close());
  after(() => target.close());

  const start = async (...nodes: DrawingNode[]): Promise<string> => {
    const begin = trigger();
    linkInRow([begin, ...nodes]);
    const workflowId = await account.api.createWorkflow(projectId, drawing([begin, ...nodes]));
    const { status, data } = await account.api.run(workflowId);
    assert.equal(status, 201, JSON.stringify(data));
    return data.id;
  };
  const signedIn = async (name: string): Promise<number> => {
    const id = await oauthConnection(account, projectId, provider, name);
    const end = await signIn(stack, account, { projectId, id });
    assert.equal(end.searchParams.get('error'), null);
    return id;
  };
  const waitingFor = async (runId: string, { id }: DrawingNode) => {
    const { data } = await account.api.poll(runId);
    return (data.data?.[id] as { waiting?: { for: string; connection_id: number; until: string } } | undefined)
      ?.waiting;
  };

  it('send the credential of each kind, and hide it in what comes back', async () => {
    const secret = 'canary-of-a-credential-42';
    const kinds: [object, (path: string) => string][] = [
      [{ kind: 'bearer', secrets: { token: secret } }, (path) => path],
      [{ kind: 'header', settings: { name: 'X-Api-Key' }, secrets: { value: secret } }, (path) => path],
      [
        { kind: 'header', settings: { names: ['X-A', 'X-B'] }, secrets: { values: [secret, `${secret}b`] } },
        (path) => path,
      ],
      [{ kind: 'query', settings: { name: 'key' }, secrets: { value: secret } }, (path) => path],
      [{ kind: 'basic', settings: { username: 'ada' }, secrets: { password: secret } }, (path) => path],
      [{ kind: 'path', settings: { prefix: '/bot' }, secrets: { value: secret } }, (path) => `/bot${path}`],
    ];
    for (const [index, [body, toPath]] of kinds.entries()) {
      const id = await createConnection(account, projectId, { name: `kind ${index}`, origins: [target.url], ...body });
      const call = http(`${target.url}${toPath(`/echo-${index}`)}`, { connection: id });
      const runId = await start(call);
      const ended = await account.api.pollToEnd(runId);
      assert.equal(ended.data.status, 'succeed', JSON.stringify(ended.data));
      const sent = target.requests.at(-1)!;
      const said = JSON.stringify([sent.path, sent.query, sent.headers]);
      const encoded = Buffer.from(`ada:${secret}`).toString('base64');
      assert.ok(said.includes(secret) || said.includes(encoded), said);
      const shown = JSON.stringify(ended.data.data);
      assert.ok(!shown.includes(secret) && !shown.includes(encoded), shown);
      assert.match(shown, /\*{8}/);
    }
  });

  it('go nowhere else: another origin, also at a redirect, fails before anything is sent', async () => {
    const other = await startHttpTarget();
    const id = await createConnection(account, projectId, {
      name: 'elsewhere',
      kind: 'bearer',
      origins: [target.url],
      secrets: { token: 'canary-elsewhere' },
    });
    const direct = http(`${other.url}/direct`, { connection: id });
    const redirected = http(`${target.url}/redirect?to=${encodeURIComponent(`${other.url}/taken`)}&status=302`, {
      connection: id,
    });
    for (const call of [direct, redirected]) {
      const { data } = await account.api.pollToEnd(await start(call));
      assert.equal(data.data![call.id]!.error?.code, 'connection_origin');
    }
    assert.equal(other.requests.length, 0);
    await other.close();
  });

  it('ask for new tokens once, however many nodes need them at the same time', async () => {
    const id = await signedIn('expired');
    provider.expireTokens();
    const calls = Array.from({ length: 50 }, (_, index) => http(`${provider.url}/call/${index}`, { connection: id }));
    const begin = trigger([], { next_nodes: calls.map((call) => call.id) });
    const workflowId = await account.api.createWorkflow(projectId, drawing([begin, ...calls]));
    const { data } = await account.api.run(workflowId);
    const ended = await account.api.pollToEnd(data.id);
    assert.equal(ended.data.status, 'succeed');
    assert.equal(provider.refreshes, 1);
    assert.equal(provider.accepted.length, 50);
  });

  it('show what they wait for, rise in version, and go on by on_error when nobody comes', async () => {
    const id = await oauthConnection(account, projectId, provider, 'never');
    const call = http(`${provider.url}/never`, { connection: id, settings: { connection_timeout: 60 } });
    const startedAt = Date.now();
    const runId = await start(call);
    const waiting = await eventually(() => waitingFor(runId, call));
    assert.equal(waiting.for, 'connection');
    assert.equal(waiting.connection_id, id);
    // The wait began after the start of the run, and before now.
    const untilMs = Date.parse(waiting.until);
    assert.ok(untilMs >= startedAt + 60_000 && untilMs <= Date.now() + 60_000, `${startedAt} ${waiting.until}`);
    const before = (await account.api.poll(runId)).data.version!;
    await queryDatabase(stack, `UPDATE waits SET until = now() - interval '1 second' WHERE run_id = $1`, [runId]);
    // Temporal keeps the original timer. This marks the wait as answered without a signal, so the reconciler wakes the
    // run earlier.
    await queryDatabase(stack, `UPDATE waits SET answered_at = now() - interval '1 minute' WHERE run_id = $1`, [runId]);
    const { data } = await account.api.pollToEnd(runId, { timeoutMs: 75_000, intervalMs: 500 });
    assert.equal(data.data![call.id]!.error?.code, 'connection_expired');
    assert.ok(data.version! > before);
  });

  it('fail where the connection is deleted while they wait', async () => {
    const id = await oauthConnection(account, projectId, provider, 'deleted');
    const call = http(`${provider.url}/deleted`, { connection: id });
    const runId = await start(call);
    await eventually(() => waitingFor(runId, call));
    const refused = await account.api.delete<{ code: string }>(`/projects/${projectId}/connections/${id}/`);
    assert.deepEqual([refused.status, refused.body.code], [409, 'in_use']);
    assert.equal((await account.api.delete(`/projects/${projectId}/connections/${id}/?force=true`)).status, 204);
    const { data } = await account.api.pollToEnd(runId);
    assert.equal(data.data![call.id]!.error?.code, 'connection_missing');
  });

  it('take client credentials, and fail where they are refused', async () => {
    const body = {
      kind: 'oauth2_client_credentials',
      origins: [provider.url],
      settings: { token_url: `${provider.url}/token`, client_id: 'machine', scopes: ['all'] },
    };
    const good = await createConnection(account, projectId, {
      ...body,
      name: 'machine',
      secrets: { client_secret: provider.clientSecret },
    });
    const bad = await createConnection(account, projectId, {
      ...body,
      name: 'wrong machine',
      secrets: { client_secret: 'wrong' },
    });
    // If each new token counted as expired, the worker would request tokens for ever.
    provider.saidLifetime = 0;
    const call = http(`${provider.url}/machine`, { connection: good });
    assert.equal((await account.api.pollToEnd(await start(call))).data.status, 'succeed');
    const refused = http(`${provider.url}/machine`, { connection: bad });
    const { data } = await account.api.pollToEnd(await start(refused));
    assert.equal(data.data![refused.id]!.error?.code, 'connection_failing');
    assert.equal((await readConnection(account, projectId, bad)).status, 'failing');
    assert.equal(provider.clientTokens, 2);
  });

  it('fail with http_status where fresh tokens are refused, and the connection is ready again after a call', async () => {
    const id = await createConnection(account, projectId, {
      name: 'refused',
      kind: 'bearer',
      origins: [target.url],
      secrets: { token: 'a-token-that-is-refused' },
    });
    target.on('/sometimes', [{ status: 401 }, { status: 200, body: {} }]);
    const call = http(`${target.url}/sometimes`, { connection: id });
    const { data } = await account.api.pollToEnd(await start(call));
    assert.equal(data.data![call.id]!.error?.code, 'http_status');
    assert.equal((await readConnection(account, projectId, id)).status, 'failing');
    const again = http(`${target.url}/sometimes`, { connection: id });
    assert.equal((await account.api.pollToEnd(await start(again))).data.status, 'succeed');
    assert.equal((await readConnection(account, projectId, id)).status, 'ready');

    // Tokens are renewed once for a call, and the call is repeated once.
    const renewable = await signedIn('never accepted');
    provider.isValid = () => false;
    const never = http(`${provider.url}/never`, { connection: renewable });
    const ended = await account.api.pollToEnd(await start(never));
    assert.equal(ended.data.data![never.id]!.error?.code, 'http_status');
    assert.deepEqual([provider.refused, provider.refreshes], [2, 1]);
    assert.equal((await readConnection(account, projectId, renewable)).status, 'failing');
  });

  it('are not accepted with a connection of another project', async () => {
    const elsewhere = await account.api.createProject();
    const id = await createConnection(account, elsewhere, {
      name: 'theirs',
      kind: 'bearer',
      origins: [target.url],
      secrets: { token: 'theirs' },
    });
    const call = http(`${target.url}/theirs`, { connection: id });
    const begin = trigger();
    linkInRow([begin, call]);
    const workflowId = await account.api.createWorkflow(projectId, drawing([begin, call]));
    const { status, data } = await account.api.run(workflowId);
    assert.equal(status, 422);
    assert.match(JSON.stringify(data), /no such connection/);
  });
});
