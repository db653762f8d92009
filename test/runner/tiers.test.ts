import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, testFiles } from './test-files.js';
import { ALONE, GROUPS, LONG, matches, roundsOf, TIERS, tiersOf, type TierName } from './tiers.js';

const files = testFiles();
const names = Object.keys(TIERS) as TierName[];
const ranAs = (script: string): RegExp => new RegExp(`^ *suites? (?:.* )?${script}(?: |$)`, 'm');

describe('the suites', () => {
  it('have every test file in exactly one of them, which runs it', () => {
    const owned = names.map((name) => roundsOf(name, files)[0]!.files);
    assert.deepEqual(owned.flat().toSorted(), files);
    for (const file of files) assert.equal(tiersOf(file).length, 1, file);
  });

  it('name only files and folders that exist', () => {
    const patterns = [...names.flatMap((name) => [...TIERS[name]]), ...LONG, ...ALONE, ...GROUPS.flat()];
    const rounds = names.flatMap((name) => roundsOf(name, files));
    for (const pattern of patterns)
      assert.ok(
        files.some((file) => matches(file, [pattern])),
        pattern,
      );
    for (const { title, files: those } of rounds) assert.ok(those.length > 0, title);
  });

  it('run the tests of the run workflow once more with the cache of workflows off', () => {
    const again = roundsOf('long', files).find(({ env }) => env?.['WORKER_CACHED_WORKFLOWS'] !== undefined);
    assert.equal(again!.env?.['WORKER_CACHED_WORKFLOWS'], '0');
    assert.ok(again!.files.includes('test/temporal-workflows/run-graph.test.ts'));
    assert.ok(again!.files.includes('test/temporal-workflows/consistency.test.ts'));
    assert.ok(!again!.files.includes('test/temporal-workflows/planner.test.ts'));
  });

  it('are all run by test:all, some of them by .ci/run, and have a script each', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    assert.match(readFileSync(path.join(ROOT, '.ci/run'), 'utf8'), /exec bash scripts\/run-suites\.sh ci;/);
    assert.equal(scripts['test:all'], 'bash scripts/run-suites.sh all');
    const [, ci, all] = readFileSync(path.join(ROOT, 'scripts/run-suites.sh'), 'utf8').split(/^ {2}(?:ci|all)\)$/m);
    for (const name of names) {
      const script = name === 'quick' ? 'test' : `test:${name}`;
      assert.equal(scripts[script], `node --import tsx test/runner/main.ts ${name}`);
      assert.equal(scripts[`pre${script}`], 'npm run --silent build');
      assert.match(all!, ranAs(script));
    }
    for (const script of ['test:pressure', 'test:hostile', 'faults']) assert.match(all!, ranAs(script));
    for (const script of ['test', 'test:durability', 'test:docs']) assert.match(ci!, ranAs(script));
  });
});
