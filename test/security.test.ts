import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

describe('the list of published weaknesses', () => {
  it('names only tests that exist', () => {
    const script = path.resolve(import.meta.dirname, '../scripts/security-table.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    assert.equal(stderr, '');
    assert.equal(status, 0);
    assert.match(stdout, /^[5-9]\d weaknesses/);
  });
});
