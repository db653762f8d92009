import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

describe('the conformance table', () => {
  it('names only tests that exist, and is assembled from its parts as they are', () => {
    const script = path.resolve(import.meta.dirname, '../scripts/conformance.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    assert.equal(stderr, '');
    assert.equal(status, 0);
  });
});
