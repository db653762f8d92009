import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { resolveActions } from '../../../api/services/resolve-actions.js';
import type { JsonObject } from '../../../graph/json.js';
import { earlierOf, NO_DATABASE, nodesOf, toolsOf } from './many-actions.js';

const MEBIBYTE = 1024 * 1024;
const resolve = (drawing: JsonObject, characters: number) =>
  resolveActions(NO_DATABASE, 1, drawing, [earlierOf(characters)]);
const tooLarge = { status: 413, code: 'too_large' };

describe('a drawing that names an action many times', function () {
  this.timeout(60_000);

  it('is a 413 beyond 8 MiB, and memory never holds a copy of the action for each node', async () => {
    for (const drawing of [nodesOf(10_000), toolsOf(10_000)]) assert.ok(JSON.stringify(drawing).length < MEBIBYTE);
    const script = path.join(import.meta.dirname, 'resolve-many.ts');
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script]);
    const { codes, grownBytes } = JSON.parse(stdout) as { codes: string[]; grownBytes: number };
    assert.deepEqual(codes, ['too_large', 'too_large', 'too_large', 'too_large']);
    assert.ok(grownBytes < 150 * MEBIBYTE, `${grownBytes} bytes more`);
  });

  it('may have nearly 8 MiB', async () => {
    for (const make of [nodesOf, toolsOf]) {
      const resolved = await resolve(make(80), 100_000);
      assert.ok(JSON.stringify(resolved).length > 7.5 * MEBIBYTE);
      await assert.rejects(resolve(make(84), 100_000), tooLarge);
    }
  });
});
