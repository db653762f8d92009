// Tests the harness of the hostile tenants. `npm run test:hostile` runs the attacks themselves.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { attacks } from './attacks/all.js';
import { makeMemoryGroup } from '../../harness/processes/cgroups.js';
import { readLimits } from './harness/limits.js';
import { watchMemory } from './harness/memory-watch.js';
import { judge } from './harness/round.js';
import type { VictimReport } from './harness/victim.js';

const SECURITY = path.resolve(import.meta.dirname, '../../docs/operate/security.md');
const MIB = 1024 * 1024;

describe('the attacks of hostile tenants', function () {
  this.timeout(120_000);

  it('are 25 at least, each with a name of its own and a row in docs/operate/security.md', () => {
    const names = attacks.map(({ name }) => name);
    assert.ok(names.length >= 25);
    assert.equal(new Set(names).size, names.length);
    const rows = [...readFileSync(SECURITY, 'utf8').matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
    assert.deepEqual(rows, names);
  });

  it('fail a round in which the victim waits too long, is refused, or has runs that do not succeed', () => {
    const well: VictimReport = {
      pollsMs: Array.from({ length: 200 }, (_, index) => (index === 7 ? 60_000 : 20)),
      startsMs: [100, 2_900],
      savesMs: [2_900],
      started: 2,
      succeeded: 2,
      failures: [],
    };
    assert.deepEqual(judge(well), []);
    const worse: [change: Partial<VictimReport>, reason: string][] = [
      [{ pollsMs: [1_001] }, 'polls took 1001 ms'],
      [{ startsMs: [3_001] }, 'starts took 3001 ms'],
      [{ savesMs: [20, 3_001] }, 'saves took 3001 ms'],
      [{ savesMs: [] }, 'no saves at all'],
      [{ succeeded: 1 }, '1 of 2 runs did not succeed in time'],
      [{ failures: ['save: 503', 'x'] }, '2 failures, first: save: 503'],
    ];
    for (const [change, reason] of worse) assert.deepEqual(judge({ ...well, ...change }), [reason]);
  });

  describe('on a process that exceeds its memory limit', () => {
    const limits = readLimits();
    const part = (memoryMiB: number) => ({ ...limits, api: { ...limits.api, memoryMiB } });
    let children: ChildProcess[] = [];
    afterEach(() => {
      for (const child of children) child.kill('SIGKILL');
      children = [];
    });
    const startGreedy = (procsFile = '/dev/null'): ChildProcess => {
      const code = `require('fs').writeFileSync('${procsFile}', String(process.pid)); const all = [];
        setInterval(() => all.push(Buffer.alloc(20 * ${MIB}, 1)), 50)`;
      const child = spawn(process.execPath, ['-e', code]);
      children.push(child);
      return child;
    };

    it('the watcher kills it where there is no control group, and says so', async () => {
      const child = startGreedy();
      const exited = once(child, 'exit');
      const watch = watchMemory({
        pidOf: (of) => (of === 'api' ? child.pid : undefined),
        limits: part(200),
        groups: {},
      });
      assert.deepEqual(await exited, [null, 'SIGKILL']);
      const { peakMiB, deaths } = await watch.end();
      assert.deepEqual(deaths, ['api killed at its limit of 200 MiB']);
      assert.ok(peakMiB.api > 200 && peakMiB.api < 600, String(peakMiB.api));
    });

    it('the kernel kills it where there is one, and the watcher says so', async function () {
      const group = makeMemoryGroup('test', 200);
      if (group === undefined) this.skip();
      try {
        const child = startGreedy(group.procsFile);
        const exited = once(child, 'exit');
        const pidOf = (of: string) => (of === 'api' ? child.pid : undefined);
        const watch = watchMemory({ pidOf, limits: part(200), groups: { api: group } });
        assert.deepEqual(await exited, [null, 'SIGKILL']);
        assert.deepEqual((await watch.end()).deaths, ['api killed at its limit of 200 MiB']);
      } finally {
        group.remove();
      }
    });
  });

  it('meet the API and the worker with the memory of docker-compose.yml', () => {
    const { api, worker } = readLimits();
    for (const { memoryMiB, nodeOptions } of [api, worker]) {
      const heap = Number(/^--max-old-space-size=(\d+)$/.exec(nodeOptions)?.[1]);
      assert.ok(heap > 0 && heap < memoryMiB, nodeOptions);
    }
  });
});
