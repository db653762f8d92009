// The drill of docs/operate/upgrade.md: both API and worker of a build take over from another build while runs are
// open.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { makeDataDir, portsOf } from '../../harness/stack/supervisor.js';
import { queryDatabase } from '../support/inspect.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { makeNextBuild, NEXT_MIGRATION, type NextBuild } from './next-build.js';
import { OPEN_RUNS, OpenRuns, type OpenRun, type OpenRunName, type Traces } from './open-runs.js';

/** Longer than it takes to start the other runs and to stop the stack. */
const OPEN_FOR_SECONDS = 20;

describe('an upgrade of API and worker while runs are open', function () {
  this.timeout(300_000);
  let dataDir: string;
  let stack: TestStack;
  let target: HttpTarget;
  let next: NextBuild;
  let runs: OpenRuns;
  const asWithout = new Map<OpenRunName, { traces: Traces; calls: string[] }>();
  const begun = new Map<OpenRunName, OpenRun>();

  before(async () => {
    dataDir = makeDataDir();
    [stack, target] = await Promise.all([startStack({ dataDir }), startHttpTarget()]);
    runs = await OpenRuns.create(() => stack, target);
    next = makeNextBuild();
    for (const name of OPEN_RUNS) {
      const run = await runs.begin(name, { tag: `without-${name}`, seconds: 1 });
      const traces = await runs.end(run);
      asWithout.set(name, { traces, calls: runs.callsOf(run) });
    }
    for (const name of OPEN_RUNS) {
      begun.set(name, await runs.begin(name, { tag: `across-${name}`, seconds: OPEN_FOR_SECONDS }));
    }
    for (const run of begun.values()) assert.ok(await runs.isOpen(run), `${run.name} has ended too early`);
    const ports = portsOf(stack);
    await stack.stop();
    stack = await startStack({ dataDir, dist: next.dist, env: ports });
  });

  after(async () => {
    await stack.stop();
    await target.close();
    next.remove();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('applies the migration and the routines of the new build', async () => {
    const text = 'SELECT FROM kysely_migration WHERE name = $1';
    assert.equal((await queryDatabase(stack, text, [NEXT_MIGRATION])).length, 1);
    assert.deepEqual(await queryDatabase(stack, 'SELECT of_next_build() AS "isThere"'), [{ isThere: true }]);
  });

  for (const name of OPEN_RUNS) {
    it(`a run that is open in a node of the kind ${name} ends as without it`, async () => {
      const run = begun.get(name)!;
      const { traces, calls } = asWithout.get(name)!;
      assert.equal(traces.status, 'succeed');
      assert.ok(calls.length > 0);
      assert.deepEqual(await runs.end(run), traces);
      assert.deepEqual(runs.callsOf(run), calls);
    });
  }
});
