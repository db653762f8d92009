import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { mustRun } from '../support/shell.js';
import { startStack } from '../../harness/stack/stack.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

describe('the list "One HTTP node, file by file" of ARCHITECTURE.md', function () {
  this.timeout(600_000);

  it('names the files that a run executes', async () => {
    const stack = await startStack({ env: { NODE_OPTIONS: '--inspect=127.0.0.1:0' } });
    try {
      const document = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8');
      const [, listed] = /<!-- npm run docs:files -->([^]*)<!-- end -->/.exec(document)!;
      const printed = await mustRun(process.execPath, ['scripts/executed-files.mjs', stack.dataDir], { cwd: ROOT });
      assert.deepEqual(linesOf(listed!), linesOf(printed), 'put the new list in by npm run docs:files -- --write');
    } finally {
      await stack.stop();
    }
  });
});

function linesOf(text: string): string[] {
  return text.trim().split('\n');
}
