import assert from 'node:assert/strict';
import { readFileSync, rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sharedStack } from '../support/shared-stack.js';
import { mustRun } from '../support/shell.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The part of a picture that does not change: values and times differ from run to run. */
const drawn = (svg: string): string[] => [
  ...[...svg.matchAll(/<text[^>]*font-size="(?:17|21|28)"[^>]*>([^<]*)</g)].flatMap(([, text = '']) =>
    /[{"$]|&quot;|\d s$|^\d/.test(text) ? [] : text,
  ),
  ...[...svg.matchAll(/<path[^>]*>/g)].map(([element]) => element),
];

describe('the picture of a run in the README', function () {
  this.timeout(120_000);

  it('is what the script draws of a real run', async () => {
    const stack = await sharedStack();
    const verdict = JSON.stringify({ verdict: 'publish', score: 9, reason: 'x' });
    stack.modelProvider.script('sandbox-echo', { text: verdict });
    const folder = mkdtempSync(path.join(tmpdir(), 'run-picture-'));
    const file = path.join(folder, 'run.svg');
    try {
      await mustRun(process.execPath, ['scripts/run-picture.mjs', stack.dataDir, file], { cwd: ROOT });
      const [now, committed] = [file, path.join(ROOT, 'docs/run.svg')].map((name) => readFileSync(name, 'utf8'));
      assert.match(now!, /Post the story[^]*File it away[^]*not taken/);
      assert.match(now!, />Succeeded · \d+\.\d s · \$0\.0000\d+</);
      assert.deepEqual(drawn(committed!), drawn(now!));
      assert.ok(Buffer.byteLength(committed!) < 10_000);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
