import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Results } from '../../bench/results.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BENCH = path.join(ROOT, 'dist/bench/main.js');

describe('npm run bench', function () {
  this.timeout(240_000);
  let folder: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'bench-test-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  // The time-out of the benchmark is shorter than the test's, and its processes end with it.
  const limits = { timeout: 220_000, killSignal: 'SIGKILL' } as const;
  const bench = (...args: string[]) => promisify(execFile)(process.execPath, [BENCH, ...args], limits);
  const measured = async (...args: string[]): Promise<Results & { stdout: string }> => {
    const json = path.join(folder, 'results.json');
    const short = ['--quick', '--seconds', '0.2', '--variants', 'visible', '--json', json];
    const { stdout } = await bench(...short, ...args);
    return { ...(JSON.parse(readFileSync(json, 'utf8')) as Results), stdout };
  };

  it('measures the service and the twin in turn, and says what it found in a table and as JSON', async () => {
    const { throughput, stdout } = await measured('--at-once', '1,2', '--only', 'diamonds');
    assert.deepEqual(
      throughput.map(({ subject, lanes }) => `${subject} ${lanes}`),
      ['visible 1', 'visible 2', 'twin-normal 1', 'twin-normal 2', 'twin-eager 1', 'twin-eager 2'],
    );
    for (const { subject, jobs, perSecond, p50Ms, p99Ms, history, cpuMsPerRun, calls } of throughput) {
      assert.equal(calls, 4);
      assert.ok(jobs > 0 && perSecond[0]! > 0 && p99Ms >= p50Ms[0]! && p50Ms[0]! > 0);
      // Both make four calls, each in a normal activity: six events each, and some for the run.
      assert.ok(history.events >= 4 * 6 && history.events < 4 * 6 + 12, `${subject}: ${history.events} events`);
      assert.ok(history.workflowTasks >= 4);
      assert.ok(Object.values(cpuMsPerRun).every(([ms]) => Number.isFinite(ms) && ms! >= 0));
    }
    assert.match(stdout, /visible, diamonds, one at a time: p50 by the twin's/);
  });

  it('compares two builds in turn', async () => {
    const { throughput, stdout } = await measured('--at-once', '2', '--only', 'branch', '--against', ROOT);
    assert.deepEqual(
      throughput.map(({ subject, row }) => `${subject} ${row}`),
      ['visible branch', 'visible-other branch'],
    );
    assert.match(stdout, /branch +visible +visible-other +2 /);
  });

  it('refuses a row that it does not know, and a checkout without a build, before it starts anything', async () => {
    await assert.rejects(bench('--only', 'chain-6'), /chain-6 is none of chain-5/);
    await assert.rejects(bench('--against', folder), /holds no build/);
  });
});
