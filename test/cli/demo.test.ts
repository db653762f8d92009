import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { loadSamples } from '../../cli/demo/samples.js';
import { processesOf } from '../support/processes.js';
import { sharedStack } from '../support/shared-stack.js';
import { makeDataDir } from '../support/stack.js';

const DEMO = path.resolve(import.meta.dirname, '../../dist/cli/demo.js');

describe('npm run demo', function () {
  this.timeout(90_000);

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
      assert.match(output, /http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/[0-9a-f-]{36}/);
      assert.ok(!output.includes('example-shop-token'));
      assert.deepEqual(processesOf(dataDir), []);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('uses a stack that runs already, and leaves it running', async () => {
    const stack = await sharedStack();
    const { code, output } = await runDemo({ DATA_DIR: stack.dataDir });
    assert.equal(code, 0, output);
    assert.match(output, /^Using the stack that runs in /);
    assert.equal((await fetch(`${stack.apiUrl}/readyz`)).status, 200);
  });
});

async function runDemo(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const kept = { PATH: process.env['PATH'], HOME: process.env['HOME'], TEMPORAL_CLI: process.env['TEMPORAL_CLI'] };
  const child = spawn(process.execPath, [DEMO], { env: { ...kept, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
