import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

describe('the conformance table', () => {
  it('names only tests that exist, and so do the pages on security', () => {
    const script = path.resolve(import.meta.dirname, '../scripts/conformance.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    assert.equal(stderr, '');
    assert.equal(status, 0);
    assert.match(stdout, /^[2-9]\d\d rows, [1-9]\d\d files cited/);
  });
});
