import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { lowerPriority } from '../../processes/lower-priority.js';
import { makeMemoryGroup } from '../../harness/processes/cgroups.js';

const MIB = 1024 * 1024;

describe('a process of low priority', function () {
  this.timeout(120_000);

  it('is ended by the kernel before its caller, even a larger one, when the memory of their group runs out', async function () {
    const group = makeMemoryGroup('low-priority', 400);
    if (group === undefined) this.skip();
    const children: ChildProcess[] = [];
    const start = (then: string): ChildProcess => {
      const join = `require('fs').writeFileSync('${group.procsFile}', String(process.pid));`;
      const child = spawn(process.execPath, ['-e', `${join} const all = []; ${then}`], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      children.push(child);
      return child;
    };
    try {
      const caller = start(
        `all.push(Buffer.alloc(200 * ${MIB}, 1)); console.log('holds it'); setInterval(() => 0, 1000)`,
      );
      await once(caller.stdout!, 'data');
      const grows = start(`setInterval(() => all.push(Buffer.alloc(10 * ${MIB}, 1)), 50)`);
      lowerPriority(grows, { niceness: 15 });
      assert.deepEqual(await once(grows, 'exit'), [null, 'SIGKILL']);
      assert.deepEqual([caller.exitCode, caller.signalCode], [null, null]);
      assert.equal(group.countKilled(), 1);
    } finally {
      for (const child of children) child.kill('SIGKILL');
      group.remove();
    }
  });
});
