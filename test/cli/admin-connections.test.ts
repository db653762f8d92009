import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { createAccount, type Account } from '../api/accounts.js';
import { createConnection, type ConnectionBody } from '../api/connections/sign-in.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startFakeMcpServer, type FakeMcpServer } from '../support/fake-mcp-server.js';
import { agent, drawing, http, linkInRow, mcp, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

const ADMIN = path.resolve(import.meta.dirname, '../../dist/cli/admin.js');

interface Extracted {
  moved: number;
  workflows: {
    id: number;
    moved: { node: string; headers: string[]; connection: { id: number | null; name: string; is_new: boolean } }[];
    left: { node: string; header: string; reason: string }[];
    published_drawing_unchanged?: boolean;
  }[];
}

describe('npm run admin -- connections extract', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let target: HttpTarget;
  let servers: FakeMcpServer;

  before(async () => {
    stack = await sharedStack();
    [account, target, servers] = await Promise.all([createAccount(stack), startHttpTarget(), startFakeMcpServer()]);
  });
  after(() => Promise.all([target.close(), servers.close()]));

  const argsOf = (projectId: number, ...more: string[]) => [
    ADMIN,
    'connections',
    'extract',
    '--project',
    `${projectId}`,
    ...more,
  ];
  const environment = () => ({ PATH: process.env['PATH'], DATA_DIR: stack.dataDir });

  async function extract(projectId: number, ...more: string[]): Promise<{ told: Extracted; text: string }> {
    const args = argsOf(projectId, ...more);
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env: environment() });
    assert.equal(stderr, '');
    return { told: JSON.parse(stdout) as Extracted, text: stdout };
  }

  const connectionsOf = async (projectId: number) =>
    (await account.api.get<{ items: ConnectionBody[] }>(`/projects/${projectId}/connections/`)).body.items;
  const read = async (workflowId: number) =>
    (await account.api.get<{ version: number; data: { nodes: DrawingNode[] } }>(`/workflows/${workflowId}/`)).body;
  const row = (...nodes: DrawingNode[]) => drawing(linkInRow([trigger(), ...nodes]));

  it('moves the headers of HTTP nodes, MCP nodes and tools, and the workflow sends what it has sent', async () => {
    const projectId = await account.api.createProject();
    const server = servers.endpoint();
    const headers = { Authorization: 'Bearer secret-of-http', 'X-Api-Key': 'secret-of-key', Accept: 'text/plain' };
    const [first, second] = [
      http(`${target.url}/extract/first`, { headers }),
      http(`${target.url}/extract/second`, { headers }),
    ];
    const calling = mcp(server.url, 'echo', {}, { transport: 'streamable_http', headers: { apikey: 'secret-of-mcp' } });
    const asking = agent('hello', {}, [{ endpoint_url: `${server.url}/tools`, headers: { apikey: 'secret-of-mcp' } }]);
    const calls = await account.api.createWorkflow(projectId, row(first, second, calling), 'calls');
    const asks = await account.api.createWorkflow(projectId, row(asking), 'asks');
    const before = await read(calls);

    const dry = await extract(projectId, '--dry-run');
    assert.equal(dry.told.moved, 4);
    assert.deepEqual(await read(calls), before);
    assert.deepEqual(await connectionsOf(projectId), []);

    const { told, text } = await extract(projectId);
    assert.ok(!/secret-of/.test(text + dry.text));
    const made = await connectionsOf(projectId);
    const hosts = [new URL(target.url).host, new URL(servers.origin).host];
    assert.deepEqual(made.map(({ name }) => name).toSorted(), hosts.toSorted());
    assert.deepEqual(
      told.workflows.map(({ id, moved }) => [id, moved.length]),
      [
        [calls, 3],
        [asks, 1],
      ],
    );
    const toNames = ({ told: { workflows } }: { told: Extracted }) =>
      workflows.map(({ moved }) => moved.map(({ connection }) => [connection.name, connection.is_new]));
    assert.deepEqual(toNames(dry), toNames({ told }));

    const after = await read(calls);
    assert.equal(after.version, before.version + 1);
    const data = after.data.nodes[1]!.data;
    assert.deepEqual(data['headers'], { Accept: 'text/plain' });
    assert.equal(data['connection'], made.find(({ origins }) => origins[0] === target.url)!.id);
    assert.equal(after.data.nodes[2]!.data['connection'], data['connection']);

    const run = await account.api.run(calls);
    assert.equal((await account.api.pollToEnd(run.data.id)).data.status, 'succeed');
    for (const place of ['/extract/first', '/extract/second']) {
      const { authorization, accept, ...sent } = target.requestsTo(place).at(-1)!.headers;
      assert.deepEqual(
        [authorization, sent['x-api-key'], accept],
        ['Bearer secret-of-http', 'secret-of-key', 'text/plain'],
      );
    }
    assert.equal(server.requests.at(-1)!.headers['apikey'], 'secret-of-mcp');

    const again = await extract(projectId);
    assert.deepEqual([again.told.moved, again.told.workflows], [0, []]);
    const records = await account.api.get<{ items: { action: string; via: string; changes: object }[] }>(
      `/projects/${projectId}/audit/?size=50`,
    );
    // The audit log also records the use of a connection by a run as made by the system.
    const system = records.body.items.filter(({ via, action }) => via === 'system' && action !== 'connection.used');
    assert.deepEqual(system.map(({ action }) => action).toSorted(), [
      'connection.created',
      'connection.created',
      'workflow.changed',
      'workflow.changed',
    ]);
    const versions = [before.version, before.version + 1];
    assert.ok(system.some(({ changes }) => JSON.stringify(changes) === JSON.stringify({ data: versions })));
    assert.ok(!/secret-of/.test(JSON.stringify(records.body)));
  });

  it('moves the user name and password of an address, which a run refuses, to where they are sent', async () => {
    const projectId = await account.api.createProject();
    const call = http(`${target.url}/extract/address`.replace('://', '://user:secret-of%2Daddress@'));
    const workflowId = await account.api.createWorkflow(projectId, row(call));
    assert.equal((await account.api.run(workflowId)).status, 422);
    const { told, text } = await extract(projectId);
    assert.deepEqual([told.moved, told.workflows[0]!.left], [1, []]);
    assert.ok(!text.includes('secret-of'));
    const { data } = (await read(workflowId)).data.nodes[1]!;
    const [made] = await connectionsOf(projectId);
    assert.deepEqual([data['url'], data['connection']], [`${target.url}/extract/address`, made!.id]);
    const run = await account.api.run(workflowId);
    assert.equal((await account.api.pollToEnd(run.data.id)).data.status, 'succeed');
    const { authorization } = target.requestsTo('/extract/address').at(-1)!.headers;
    assert.equal(authorization, `Basic ${Buffer.from('user:secret-of-address').toString('base64')}`);
  });

  it('uses a connection that the project has, and leaves alone what cannot move', async () => {
    const projectId = await account.api.createProject();
    const host = new URL(target.url).host;
    const shared = await createConnection(account, projectId, {
      name: 'by hand',
      kind: 'header',
      origins: [target.url],
      settings: { name: 'x-api-key' },
      secrets: { value: 'the-same' },
    });
    await createConnection(account, projectId, {
      name: host,
      kind: 'bearer',
      origins: [target.url],
      secrets: { token: 't' },
    });
    const nodes = [
      http(target.url, { headers: { 'X-Api-Key': 'the-same' } }),
      http(target.url, { headers: { 'X-Api-Key': 'another' } }),
      http(target.url, { connection: shared, headers: { 'X-Token': 'beside' } }),
      http(target.url, { headers: { Authorization: 'Bearer {{ input.token }}' } }),
      http('{{ input.url }}', { headers: { Cookie: 'a=b' } }),
    ];
    const workflowId = await account.api.createWorkflow(projectId, row(...nodes));
    const { told } = await extract(projectId);
    const [workflow] = told.workflows;
    assert.equal(workflow!.id, workflowId);
    assert.deepEqual(
      workflow!.moved.map(({ connection }) => [connection.name, connection.is_new]),
      [
        ['by hand', false],
        [`${host} 2`, true],
      ],
    );
    assert.deepEqual(
      workflow!.left.map(({ node, header }) => [node, header]),
      [
        [nodes[2]!.id, 'headers.X-Token'],
        [nodes[3]!.id, 'headers.Authorization'],
        [nodes[4]!.id, 'headers.Cookie'],
      ],
    );
    const again = await extract(projectId);
    assert.deepEqual([again.told.moved, again.told.workflows[0]!.left.length], [0, 3]);
  });

  it('makes no connection twice where it is killed before the drawing is stored', async () => {
    const projectId = await account.api.createProject();
    const call = (value: string) => row(http(target.url, { headers: { 'X-Api-Key': value } }));
    const done = await account.api.createWorkflow(projectId, call('of-the-first'));
    const cut = await account.api.createWorkflow(projectId, call('of-the-second'));
    const client = new pg.Client({ connectionString: stack.stack.database_url });
    await client.connect();
    try {
      // The command has to store this version, so it waits for this transaction.
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO workflow_versions (workflow_id, version, author_id, document, secrets_enc, created_at)
          SELECT id, version, author_id, document, secrets_enc, now() FROM workflows WHERE id = $1`,
        [cut],
      );
      const command = spawn(process.execPath, argsOf(projectId), { env: environment(), stdio: 'ignore' });
      const ended = once(command, 'exit');
      await eventually(async () => {
        const blocked = await queryDatabase<object>(
          stack,
          `SELECT pid FROM pg_stat_activity WHERE application_name = 'admin' AND wait_event_type = 'Lock'
            AND query LIKE '%workflow_versions%'`,
        );
        return blocked.length > 0;
      });
      command.kill('SIGKILL');
      await ended;
    } finally {
      await client.query('ROLLBACK');
      await client.end();
    }
    assert.equal((await read(done)).version, 2);
    assert.equal((await read(cut)).version, 1);
    assert.equal((await connectionsOf(projectId)).length, 1);
    assert.deepEqual(
      (await extract(projectId)).told.workflows.map(({ id }) => id),
      [cut],
    );
    assert.equal((await connectionsOf(projectId)).length, 2);
  });

  it('says that a published drawing keeps its headers', async () => {
    const projectId = await account.api.createProject();
    const drawn = row(http(target.url, { headers: { 'X-Api-Key': 'published' } }));
    const workflowId = await account.api.createWorkflow(projectId, drawn);
    const run = await account.api.run(workflowId);
    await account.api.pollToEnd(run.data.id);
    await queryDatabase(
      stack,
      `UPDATE workflows SET is_published = true, slug = 'extracted-' || id, last_published_at = now(),
        published_snapshot = (SELECT snapshot_hash FROM runs WHERE runs.workflow_id = workflows.id) WHERE id = $1`,
      [workflowId],
    );
    assert.equal((await extract(projectId)).told.workflows[0]!.published_drawing_unchanged, true);
  });

  it('refuses a project that does not exist', async () => {
    const failure = await extract(2_000_000_000).catch((error: { stderr: string }) => error.stderr);
    assert.deepEqual(failure, 'There is no project 2000000000.\n');
  });
});
