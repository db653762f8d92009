import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Results } from '../../bench/results.js';

const BENCH = path.resolve(import.meta.dirname, '../../dist/bench/main.js');

describe('npm run bench', function () {
  this.timeout(240_000);
  let folder: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'bench-test-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  // Ended before the test is: it takes its processes with it.
  const limits = { timeout: 220_000, killSignal: 'SIGKILL' } as const;
  const bench = (...args: string[]) => promisify(execFile)(process.execPath, [BENCH, ...args], limits);

  it('measures the service and the twin in turn, and says what it found in a table and as JSON', async () => {
    const json = path.join(folder, 'results.json');
    const short = ['--quick', '--seconds', '0.2', '--at-once', '1,2', '--only', 'chain-5', '--variants', 'alone'];
    const { stdout } = await bench(...short, '--json', json);
    const { throughput, limits: judged } = JSON.parse(readFileSync(json, 'utf8')) as Results;
    assert.deepEqual(
      throughput.map(({ subject, lanes }) => `${subject} ${lanes}`),
      ['service 1', 'twin-normal 1', 'service 2', 'twin-normal 2'],
    );
    for (const { subject, jobs, perSecond, p50Ms, p99Ms, history, cpuMsPerRun, calls } of throughput) {
      assert.equal(calls, 5);
      assert.ok(jobs > 0 && perSecond[0]! > 0 && p99Ms >= p50Ms[0]! && p50Ms[0]! > 0);
      // Both make five calls in normal activities: six events each, and some around them.
      assert.ok(history.events >= 5 * 6 && history.events < 5 * 6 + 20, `${subject}: ${history.events} events`);
      assert.ok(history.workflowTasks >= 5);
      assert.ok(Object.values(cpuMsPerRun).every(([ms]) => Number.isFinite(ms) && ms! >= 0));
    }
    assert.ok(judged.length > 0);
    for (const { what } of judged) assert.ok(stdout.includes(what), what);
  });

  it('refuses a row that it does not know, before it starts anything', async () => {
    await assert.rejects(bench('--only', 'chain-6'), (error: { stderr: string; code: number }) => {
      assert.match(error.stderr, /chain-6 is none of empty, chain-5/);
      return error.code === 1;
    });
  });
});
