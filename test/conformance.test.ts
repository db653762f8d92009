import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

describe('the conformance table', () => {
  it('names only tests that exist, and so do the pages on security', () => {
    const script = path.resolve(import.meta.dirname, '../scripts/conformance.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    assert.equal(stderr, '');
    assert.equal(status, 0);
    assert.match(stdout, /^[3-9]\d\d rows, [1-9]\d\d files cited/);
  });

  it('has at least 50 weaknesses of similar products among its rows', () => {
    const table = path.resolve(import.meta.dirname, '../docs/evidence/conformance/weaknesses.tsv');
    assert.ok(readFileSync(table, 'utf8').split('\n').length > 51);
  });
});
