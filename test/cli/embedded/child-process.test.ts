import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ChildSupervisor, type ChildOptions } from '../../../cli/embedded/child-process.js';
import { eventually } from '../../../harness/timing/eventually.js';

describe('a supervised child', () => {
  let folder: string;
  const running: ChildSupervisor[] = [];

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'child-'));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((child) => child.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  function supervise(script: string, options: Partial<ChildOptions> = {}): ChildSupervisor {
    const child = new ChildSupervisor({
      name: 'child',
      command: { file: process.execPath, args: ['-e', script], env: {} },
      logFile: path.join(folder, 'child.log'),
      isReady: () => Promise.resolve(true),
      readyTimeoutMs: 5_000,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 300,
      onSpawn: () => undefined,
      onRestart: () => undefined,
      ...options,
    });
    running.push(child);
    return child;
  }

  it('is back within 200 ms of its first death, and given more time when it keeps dying', async () => {
    const spawnedAt: number[] = [];
    const child = supervise('process.exit(3)', { onSpawn: () => spawnedAt.push(performance.now()) });
    const reasons: string[] = [];
    child.options.onRestart = (reason) => reasons.push(reason);
    await child.start();
    await eventually(() => spawnedAt.length >= 3);
    assert.match(reasons[0]!, /^child exited with code 3; restarting$/);
    assert.match(reasons[1]!, /restarting in 0\.5 s$/);
    assert.ok(spawnedAt[2]! - spawnedAt[1]! >= 500);
  });

  it('fails the start with the end of its log when it dies before it is ready', async () => {
    const child = supervise('console.error("no luck today"); process.exit(1)', {
      isReady: () => Promise.resolve(false),
    });
    await assert.rejects(child.start(), /child exited with code 1 before it was ready\.\nno luck today/);
  });

  it('fails the start when it does not answer at all: after its time limit, or at once when it dies', async () => {
    const isReady = () => new Promise<never>(() => undefined);
    const mute = supervise('setInterval(() => {}, 1000)', { isReady, readyTimeoutMs: 200 });
    await assert.rejects(mute.start(), /child was not ready after 0\.2 s\./);
    const dying = supervise('process.exit(1)', { isReady, readyTimeoutMs: 3_600_000 });
    await assert.rejects(dying.start(), /child exited with code 1 before it was ready\./);
  });

  it('is killed when it does not stop in time', async () => {
    const child = supervise('process.on("SIGTERM", () => {}); console.log("up"); setInterval(() => {}, 1000)', {
      isReady: () => Promise.resolve(readFileSync(path.join(folder, 'child.log'), 'utf8').includes('up')),
    });
    await child.start();
    const { pid } = child;
    await child.stop();
    assert.equal(child.pid, undefined);
    assert.throws(() => process.kill(pid!, 0), { code: 'ESRCH' });
  });

  it('is killed and started again when it lives and does not answer any more', async () => {
    const pids: (number | undefined)[] = [];
    const reasons: string[] = [];
    let isAnswering = true;
    const child = supervise('setInterval(() => {}, 1000)', {
      isReady: () => Promise.resolve(isAnswering),
      liveness: { everyMs: 10, timeoutMs: 100, failures: 5 },
      onRestart: (reason) => reasons.push(reason),
    });
    child.options.onSpawn = () => {
      pids.push(child.pid);
      isAnswering = true;
    };
    await child.start();
    isAnswering = false;
    await eventually(() => pids.length === 2);
    assert.notEqual(pids[1], pids[0]);
    assert.match(reasons[0]!, /^child does not answer any more and is killed$/);
    assert.match(reasons[1]!, /^child died of SIGKILL; restarting/);
  });

  it('is left alone while it fails to answer only now and then', async () => {
    let [asked, restarts] = [0, 0];
    const child = supervise('setInterval(() => {}, 1000)', {
      // Two checks fail in a row, one succeeds, and so on.
      isReady: () => Promise.resolve(asked++ % 3 === 0),
      liveness: { everyMs: 5, timeoutMs: 100, failures: 3 },
      onRestart: () => (restarts += 1),
    });
    await child.start();
    await eventually(() => asked > 40);
    assert.equal(restarts, 0);
  });

  it('does not come back after stop', async () => {
    let starts = 0;
    const child = supervise('setInterval(() => {}, 1000)', { onSpawn: () => (starts += 1) });
    await child.start();
    await child.stop();
    assert.equal(starts, 1);
    assert.equal(child.pid, undefined);
  });

  it('may be stopped twice when its log is followed', async () => {
    const child = supervise('setInterval(() => {}, 1000)', { onLine: () => undefined });
    await child.start();
    await child.stop();
    await child.stop();
  });
});
