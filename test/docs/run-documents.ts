import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { needPrograms } from '../support/programs.js';
import { execute } from '../support/shell.js';

export const ROOT = path.resolve(import.meta.dirname, '../..');

/**
 * Defines a test for each document that runs its commands, in a copy of the tree and on a stack of its own. The test
 * fails for a block of commands without an action (scripts/docs/blocks.mjs).
 */
export function itRuns(documents: string[]): void {
  for (const document of documents) {
    it(`${document}: every command works as it stands there`, async function () {
      const programs = ['bash', 'curl', 'git'];
      const isPython = /^python3 /m.test(readFileSync(path.join(ROOT, document), 'utf8'));
      needPrograms(this, ...programs, ...(isPython ? ['python3'] : []));
      const args = ['scripts/run-docs.mjs', document];
      const { code, stdout, stderr } = await execute(process.execPath, args, { cwd: ROOT, timeoutMs: 390_000 });
      assert.equal(code, 0, stdout + stderr);
    });
  }
}
