import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { createDemoApi } from '../../cli/demo/demo-api.js';
import { loadSamples, type Sample } from '../../cli/samples/samples.js';
import type { readSamplesFile } from '../../cli/samples/samples-file.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { attendToEnd } from '../support/attended-run.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';
import { makeDataDir } from '../../harness/stack/supervisor.js';

interface Listed {
  id: number;
  title: string;
  version: number;
  data: Sample['data'];
}

/** The settings of a stack without its own model provider, as a new user starts it. */
const NEWCOMER = { MODEL_PROVIDERS_FILE: '' };
const TITLES = loadSamples().map(({ title }) => title);
const ANSWERS = Object.assign({}, ...loadSamples().map(({ answers }) => answers)) as NonNullable<Sample['answers']>;

type SamplesFile = NonNullable<ReturnType<typeof readSamplesFile>>;

// The tests use one data directory: each test continues from the state that the previous one has left.
describe('the sample workflows of npm start', function () {
  this.timeout(600_000);
  const dataDir = makeDataDir();
  const file = path.join(dataDir, 'samples.json');
  let stack: StartedStack | undefined;
  let api: ApiClient;

  const readFile = (): SamplesFile => JSON.parse(readFileSync(file, 'utf8')) as SamplesFile;

  async function start(env: Record<string, string> = NEWCOMER): Promise<void> {
    stack = await startStack({ dataDir, env });
    api = createApiClient(stack.apiUrl, stack.apiKey);
  }

  async function stop(): Promise<void> {
    await stack?.stop();
    stack = undefined;
  }

  async function projects(): Promise<{ id: number; name: string }[]> {
    const { body } = await api.get<{ items: { id: number; name: string }[] }>('/projects/?size=100');
    return body.items;
  }

  async function samples(): Promise<Listed[]> {
    const { body } = await api.get<{ items: Listed[] }>(`/workflows/?project=${readFile().project_id}&size=100`);
    return body.items;
  }

  async function runAll(): Promise<void> {
    const demo = createDemoApi(stack!.apiUrl, stack!.apiKey);
    for (const { id, title, data } of await samples()) {
      const started = await api.run(id, {});
      assert.equal(started.status, 201, `${title}: ${JSON.stringify(started)}`);
      const sample = { name: title, title, description: '', tags: [], input: {}, answers: ANSWERS, data };
      const { state } = await attendToEnd(demo, sample, started.data.id);
      assert.equal(state.status, 'succeed', `${title}: ${JSON.stringify(state)}`);
    }
  }

  async function landing(): Promise<string> {
    const [, link = ''] = await eventually(() => /^Console: (\S+)#token=/m.exec(stack!.logs()) ?? false);
    return link.slice(stack!.apiUrl.length);
  }

  after(async () => {
    await stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('are there after the first start, and each runs to success with nothing typed in beside answers, and no key', async () => {
    await start();
    assert.deepEqual(
      (await projects()).map(({ id, name }) => [id, name]),
      [[readFile().project_id, 'Samples']],
    );
    assert.deepEqual((await samples()).map(({ title }) => title).toSorted(), TITLES.toSorted());
    await runAll();
    assert.ok(!JSON.stringify(await samples()).includes('example-shop-token'), 'a secret default came back');
  });

  it('are what the sign-in link leads to', async () => {
    assert.equal(await landing(), `/workflows?project=${readFile().project_id}`);
  });

  it('stay as the user has changed and deleted them, and run again after another start', async () => {
    const [first, second] = await samples();
    assert.equal((await api.patch(`/workflows/${first!.id}/`, { body: { title: 'Mine' } })).status, 200);
    assert.equal((await api.delete(`/workflows/${second!.id}/`)).status, 204);
    const left = (await samples()).map(({ id, title, version }) => ({ id, title, version }));
    assert.equal(left.length, TITLES.length - 1);
    await stop();
    await start();
    assert.deepEqual(
      (await samples()).map(({ id, title, version }) => ({ id, title, version })),
      left,
    );
    await runAll();
  });

  it('are found again by the start after one that died before it had noted them', async () => {
    const { project_id: projectId, settings } = readFile();
    await stop();
    // A crash after the transaction and before the id of the project is written leaves this file.
    writeFileSync(file, JSON.stringify({ settings }));
    await start();
    assert.equal(readFile().project_id, projectId);
    assert.equal((await projects()).length, 1);
  });

  it("follow their targets to another port where theirs is taken, and keep the user's own addresses", async () => {
    const [mine] = await samples();
    const before = readFile().settings[0]!.base_url;
    const data = JSON.parse(JSON.stringify(mine!.data).replaceAll(before, 'http://127.0.0.1:9/mine')) as Listed['data'];
    assert.equal((await api.patch(`/workflows/${mine!.id}/`, { body: { data } })).status, 200);
    await stop();
    const other = await occupy(before);
    try {
      await start();
      const { settings } = readFile();
      assert.equal(settings.length, 1);
      assert.notEqual(settings[0]!.base_url, before);
      const moved = await samples();
      const addresses = moved.map(addressOf).filter((address) => address !== undefined);
      assert.deepEqual(addresses, ['http://127.0.0.1:9/mine', ...addresses.slice(1).map(() => settings[0]!.base_url)]);
      const others = JSON.stringify(moved.slice(1));
      assert.ok(!others.includes(before) && others.includes(`${settings[0]!.base_url}/mcp`), 'tools move, too');
      assert.equal((await api.delete(`/workflows/${mine!.id}/`)).status, 204);
      await runAll();
    } finally {
      other.close();
    }
  });

  it('name the model of the provider that is configured later', async () => {
    await stop();
    // The test stack's own provider, which serves every model.
    await start({});
    assert.notEqual(readFile().settings[0]!.model, 'sandbox-echo');
    assert.ok(!JSON.stringify(await samples()).includes('sandbox-echo'));
  });

  it('are not made again once their project is deleted, and the sign-in link leads to the root then', async () => {
    assert.equal((await api.delete(`/projects/${readFile().project_id}/`)).status, 204);
    await stop();
    await start();
    assert.deepEqual(await projects(), []);
    assert.equal(await landing(), '/');
  });
});

function addressOf({ data }: Listed): unknown {
  const fields = data.nodes.flatMap((node) => node.data.input_fields ?? []) as { id: string; default_value: unknown }[];
  return fields.find(({ id }) => id === 'base_url')?.default_value;
}

/** Listens at the address, as another process may. */
async function occupy(url: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(Number(new URL(url).port), '127.0.0.1');
  await once(server, 'listening');
  return server;
}
