import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { loadSamples } from '../../cli/samples/samples.js';
import { SANDBOX_MODEL } from '../../cli/sandbox/model-provider.js';
import { Browser } from '../api/sessions/people.js';
import { eventually } from '../../harness/timing/eventually.js';
import { processesOf } from '../../harness/processes/family.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { standIn } from '../support/stand-in.js';
import { makeDataDir } from '../../harness/stack/supervisor.js';

const DEMO = path.resolve(import.meta.dirname, '../../dist/cli/demo.js');

describe('npm run demo', function () {
  // A demo takes 20 s on an idle machine.
  this.timeout(300_000);
  const dataDirs: string[] = [];

  after(() => {
    for (const directory of dataDirs) rmSync(directory, { recursive: true, force: true });
  });

  /** Makes a data directory in which the same stack runs, as one that was started with this model. */
  function dataDirOf(stack: TestStack, model: string): string {
    const dataDir = makeDataDir();
    dataDirs.push(dataDir);
    for (const name of ['stack.json', 'supervisor.lock', 'logs']) {
      symlinkSync(path.join(stack.dataDir, name), path.join(dataDir, name));
    }
    const settings = [{ base_url: 'http://127.0.0.1:1', model }];
    writeFileSync(path.join(dataDir, 'samples.json'), JSON.stringify({ settings }));
    return dataDir;
  }

  it("prints every sample's node results, its cost and its Temporal link, stops everything and exits 0", async () => {
    const dataDir = makeDataDir();
    try {
      const { code, output } = await runDemo({ DATA_DIR: dataDir });
      assert.equal(code, 0, output);
      for (const { title, data } of loadSamples()) {
        assert.ok(output.includes(title));
        for (const node of data.nodes)
          assert.ok(output.includes(`${node.id.slice(0, 8)}  ${node.data.label}: `), node.data.label);
      }
      assert.match(output, /\[sandbox\]/);
      assert.match(output, /Cost 0\.0000\d+ USD = /);
      assert.match(output, /Cost 0 USD = [^\n]*, with the runs that it has started 0\.000\d+ USD = /);
      assert.match(output, /"Publish it\?" waited for a person\. The demo has answered "publish" with /);
      assert.match(output, /"Wait for the payment" waited for a callback\. The demo has called back with /);
      assert.match(
        output,
        /"Order from the supplier" asked to call order_from_supplier with .*The demo has approved it\./,
      );
      assert.match(output, /The document \S+\/openapi\.json has become the service "Help desk" with 3 actions\./);
      assert.match(output, /"Clerk" asked to call answer_ticket with .*The demo has approved it\./);
      assert.doesNotMatch(output, /"Clerk" asked to call (?:list|read)_/);
      assert.match(output, /The iteration \S+\[4\] has failed, and its loop has gone on\./);
      assert.match(output, /http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/[0-9a-f-]{36}/);
      assert.ok(!output.includes('example-shop-token'));
      assert.doesNotMatch(output, /#token=/);
      assert.deepEqual(processesOf(dataDir), []);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('uses a stack that runs already with the model of that stack, and leaves it running', async () => {
    const stack = await sharedStack();
    const model = 'model-of-the-running-stack';
    stack.modelProvider.script(model, standIn);
    const { code, output } = await runDemo({ DATA_DIR: dataDirOf(stack, model) });
    assert.equal(code, 0, output);
    assert.match(output, /^Using the stack that runs in /);
    assert.ok(stack.modelProvider.requestsFor(model).length > 0);
    assert.equal((await fetch(`${stack.apiUrl}/readyz`)).status, 200);
  });

  it('fails where a sample puts out something else than it says', async () => {
    const stack = await sharedStack();
    const asksForPurpose = ({ text }: { text: string }): boolean => text.includes('"purpose"');
    stack.modelProvider.script(SANDBOX_MODEL, (request) =>
      asksForPurpose(request) ? { text: '{"category":"other","reason":"none"}' } : standIn(request),
    );
    const { code, output } = await runDemo({ DATA_DIR: dataDirOf(stack, SANDBOX_MODEL) });
    assert.equal(code, 1, output);
    assert.match(output, /The demo failed: the run of "Invoice screening" should have put out \{"supplier":/);
  });

  it('ends with a link that signs in to the console where it stays up, and stays up until it is told to stop', async () => {
    const stack = await sharedStack();
    stack.modelProvider.script(SANDBOX_MODEL, standIn);
    const { child, output } = spawnDemo({ DATA_DIR: dataDirOf(stack, SANDBOX_MODEL) }, ['--keep']);
    const ended = once(child, 'close') as Promise<[number | null]>;
    try {
      const form = /^Console: (\S+)#token=([\w-]{43})\n$/m;
      const seen = (): RegExpExecArray | string | false =>
        form.exec(output()) ?? (child.exitCode === null ? false : 'ended');
      const link = await eventually(seen, { timeoutMs: 240_000 });
      assert.ok(typeof link !== 'string', output());
      assert.ok(output().endsWith(link[0]));
      assert.equal(new URL(link[1]!).origin, stack.apiUrl);
      const { status, body } = await new Browser(stack.apiUrl).post('link/', { token: link[2] });
      assert.deepEqual([status, body.user.id], [200, stack.stack.user_id]);
      assert.equal(child.exitCode, null);
    } finally {
      child.kill('SIGTERM');
      assert.equal((await ended)[0], 0, output());
    }
  });
});

async function runDemo(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const { child, output } = spawnDemo(env);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: output() };
}

function spawnDemo(env: Record<string, string>, options: string[] = []): { child: ChildProcess; output: () => string } {
  const kept = { PATH: process.env['PATH'], HOME: process.env['HOME'], TEMPORAL_CLI: process.env['TEMPORAL_CLI'] };
  const child = spawn(process.execPath, [DEMO, ...options], {
    env: { ...kept, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { child, output: () => text };
}
