import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readStat } from '../../harness/processes/family.js';
import { signalAll } from '../../harness/processes/signals.js';
import { eventually } from '../../harness/timing/eventually.js';
import { runInLanes, type LanesOptions, type TimedResult } from './lanes.js';
import { openReport } from './report.js';

const PASSES = `it('passes', () => {});`;
const FAILS = `it('passes', () => {}); it('fails', () => { throw new Error('seen'); });`;
const DIES = `it('dies', () => process.exit(0));`;
const UNREADABLE = `it('no test', () => {`;
const LEAKS = `it('leaves a timer', () => void setInterval(() => {}, 1000));`;
const STARTS_A_PROCESS = `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
it('waits beside a process', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  writeFileSync(new URL('child', import.meta.url), String(child.pid));
  await new Promise(() => {});
});`;
const RUNNER = `import { runInLanes } from '${pathToFileURL(path.join(import.meta.dirname, 'lanes.ts')).href}';
await runInLanes([[process.argv[2]]], { jobs: 1, env: {}, onResult() {} });`;
const SAYS_WHERE = `it(process.env.ROUND + ' in ' + process.pid, () => {});`;
/** A test that passes only while another file of this kind runs. */
const MEETS = `import { readdirSync, writeFileSync } from 'node:fs';
it(process.env.ROUND + ' in ' + process.pid, async function () {
  writeFileSync(new URL('here-' + process.pid, import.meta.url), '');
  const isHere = (name) => name.startsWith('here-');
  while (readdirSync(new URL('.', import.meta.url)).filter(isHere).length < 2) await new Promise((on) => setTimeout(on, 20));
});`;

describe('lanes of test files', function () {
  this.timeout(120_000);
  let folder: string;
  let count = 0;

  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'lanes-test-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function write(text: string): string {
    const file = path.join(folder, `${++count}.test.mjs`);
    writeFileSync(file, text);
    return file;
  }

  async function run(groups: string[][], options: Partial<LanesOptions> = {}): Promise<TimedResult[]> {
    const results: TimedResult[] = [];
    await runInLanes(groups, {
      jobs: 2,
      grep: undefined,
      env: {},
      sharedStack: () => Promise.reject(new Error('no test here needs one')),
      onResult: (result) => results.push(result),
      leakAfterMs: 500,
      ...options,
    });
    return results;
  }

  it('count every test, and show the failed ones with their errors', async () => {
    const [good, bad] = [write(PASSES), write(FAILS)];
    const results = await run([[good], [bad]]);
    const counts = Object.fromEntries(results.map(({ file, passes, failures }) => [file, [passes, failures]]));
    assert.deepEqual(counts, { [good]: [1, 0], [bad]: [1, 1] });
    assert.match(results.find(({ file }) => file === bad)!.output, /1\) fails[^]*Error: seen/);
  });

  it('count a file that kills its process, or cannot be read, as failed, and run the others', async () => {
    const [dies, unreadable, good] = [write(DIES), write(UNREADABLE), write(PASSES)];
    const results = await run([[dies], [unreadable], [good]], { jobs: 1 });
    assert.deepEqual(
      results.map(({ file, passes, failures }) => [file, passes, failures]),
      [
        [dies, 0, 1],
        [unreadable, 0, 1],
        [good, 1, 0],
      ],
    );
  });

  it('end, with a failure, where no lane can be started', async () => {
    const results = await run([[write(PASSES)], [write(PASSES)]], { env: { NODE_OPTIONS: '--no-such-option' } });
    assert.ok(results.length > 0);
    assert.ok(results.every(({ passes, failures }) => passes === 0 && failures === 1));
  });

  it('count what a file leaves open as a failure', async () => {
    const results = await run([[write(LEAKS)]]);
    assert.deepEqual(
      results.map(({ passes, failures }) => [passes, failures]),
      [
        [1, 0],
        [0, 1],
      ],
    );
  });

  it('run files side by side in processes of their own, those of a group one after the other in one', async () => {
    const groups = [[write(MEETS), write(SAYS_WHERE)], [write(MEETS)]];
    const results = await run(groups, { env: { ROUND: 'first' } });
    const pids = groups.map((group) => {
      const outputs = results.filter(({ file }) => group.includes(file)).map(({ output }) => output);
      return [...new Set(outputs.map((output) => /first in (\d+)/.exec(output)![1]))];
    });
    assert.deepEqual(
      pids.map(({ length }) => length),
      [1, 1],
    );
    assert.notEqual(pids[0]![0], pids[1]![0]);
    assert.ok(results.every(({ failures }) => failures === 0));
  });

  it('end the processes that their tests have started when the runner is interrupted', async function () {
    if (process.platform !== 'linux') this.skip();
    const runnerFile = path.join(folder, 'runner.mjs');
    writeFileSync(runnerFile, RUNNER);
    const runner = spawn(process.execPath, ['--import', 'tsx', runnerFile, write(STARTS_A_PROCESS)]);
    const started = await eventually(() => Number(readFileSync(path.join(folder, 'child'), 'utf8')) || undefined);
    // An ended process that init has not read yet still has an entry.
    const isRunning = (): boolean => !['Z', undefined].includes(readStat(started)?.state);
    try {
      assert.ok(isRunning());
      runner.kill('SIGINT');
      await eventually(() => !isRunning());
    } finally {
      if (isRunning()) signalAll([started], 'SIGKILL');
    }
  });
});

describe('the report of the suites', () => {
  const result = { file: 'a', passes: 2, failures: 0, pending: 0, cpuMs: 10, rssMb: 100, durationMs: 10, output: '' };

  it('ends with the sum, and has failed where one test has', () => {
    let text = '';
    const report = openReport((more) => (text += more));
    report.add(result);
    report.add({ ...result, file: 'b', failures: 1, output: 'what went wrong' });
    assert.equal(report.close(5), false);
    assert.match(text, /FAILED: b\nwhat went wrong\n[^]*\n4 passed, 1 failed\n$/);
  });

  it('is a failure where nothing was run at all', () => {
    assert.equal(openReport(() => undefined).close(5), false);
  });
});
