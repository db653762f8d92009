// Work in separate processes, which the API and the worker start from the build.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { Question } from '../../graph/judge.js';
import { createProcesses, ProcessesBusyError, type Processes, type WorkOptions } from '../../processes/processes.js';
import { questionsWork, type Work } from '../../processes/work.js';
import { eventually } from '../../harness/timing/eventually.js';
import { cpuMillisecondsUntil } from '../support/cpu-time.js';

const ENTRY = new URL('../../dist/processes/host.js', import.meta.url);
const NEVER = new AbortController().signal;

/** This takes some 0.3 s of one processor. */
const slow: Question = { left: 'ab'.repeat(600_000), operator: 'matches', right: String.raw`\p{L}+\d$` };
const slowWork: Work = questionsWork([slow], 'all');
const quick: Work = questionsWork([{ left: 'a', operator: 'matches', right: 'a' }], 'all');
/** Each level refers to the next one twice: 2^60 steps. */
const endless = JSON.stringify({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => {
      const next = at === 59 ? { type: 'object' } : { $ref: `#/$defs/d${at + 1}` };
      return [`d${at}`, { allOf: [next, next] }];
    }),
  ),
});

/** Seconds of processor time that the child which has used most has used: a start takes less than one, endless work more. */
async function childrenSeconds(): Promise<number> {
  const children = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  const times = children
    .split(' ')
    .filter(Boolean)
    .map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      const [user, system] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13);
      return (Number(user) + Number(system)) / 100;
    });
  return Math.max(0, ...(await Promise.all(times)));
}

describe('processes', function () {
  this.timeout(120_000);
  let processes: Processes;
  beforeEach(() => void (processes = createProcesses(ENTRY)));
  afterEach(() => processes.close());

  const run = (work: Work, owner = 1, given: Partial<WorkOptions> = {}) =>
    processes.run(work, { owner, signal: NEVER, limitMs: 30_000, ...given });

  it('say which questions hold, whether a pattern is invalid, and why a value does not fit its schema', async () => {
    const questions: Question[] = [
      { left: 'b', operator: '==', right: 'a' },
      { left: '7', operator: 'in', right: '[7, 8]' },
      { left: 'abc', operator: 'matches', right: '^a.c$' },
    ];
    assert.deepEqual(await run(questionsWork(questions, 'all')), { kind: 'held', held: [1, 2] });
    assert.deepEqual(await run(questionsWork(questions, 'first')), { kind: 'held', held: [1] });
    const wrong = await run(questionsWork([{ ...questions[2]!, right: '(' }], 'all'));
    assert.deepEqual([wrong?.kind, (wrong as { code?: string }).code], ['failed', 'invalid_pattern']);
    const schema = JSON.stringify({ type: 'number' });
    const fitting = await Promise.all(
      ['5', '"x"', undefined].map((value) => run({ kind: 'schema', schema, ...(value !== undefined && { value }) })),
    );
    assert.deepEqual(fitting, [
      { kind: 'checked', problem: undefined },
      { kind: 'checked', problem: 'it must be number' },
      { kind: 'checked', problem: undefined },
    ]);
    assert.equal((await run({ kind: 'schema', schema: '{"$ref":"#/nothing"}' }))?.kind, 'unusable');
    assert.equal((await run({ kind: 'schema', schema: '{"$async":true}', value: '1' }))?.kind, 'unusable');
  });

  it('do not block the calling process while they work', async () => {
    await run(quick);
    // The work takes all its time of a processor, in whichever process.
    const tookMs = await cpuMillisecondsUntil(() =>
      run({ kind: 'schema', schema: endless, value: '{}' }, 1, { limitMs: 1_500 }),
    );
    assert.ok(tookMs < 500, `${tookMs} ms`);
  });

  it('are ended when they are late, stopped, or take too much memory, and the next work is done', async () => {
    assert.equal(await run({ kind: 'schema', schema: endless, value: '{}' }, 1, { limitMs: 300 }), undefined);
    const stop = new AbortController();
    const stopped = run({ kind: 'schema', schema: endless, value: '{}' }, 1, { signal: stop.signal });
    await eventually(async () => (await childrenSeconds()) >= 1);
    stop.abort(new Error('cancelled'));
    await assert.rejects(stopped, /cancelled/);
    const huge: Question = { left: 'x', operator: 'in', right: `[${'[],'.repeat(9_000_000)}1]` };
    assert.equal(await run(questionsWork([huge], 'all')), undefined);
    assert.deepEqual(await run(quick), { kind: 'held', held: [0] });
  });

  it('never serve one owner alone: the work of others is done amid any amount of it', async () => {
    await Promise.all([run(quick, 1), run(quick, 2)]);
    const done: number[] = [];
    const all = Array.from({ length: 12 }, async () => {
      await run(slowWork, 1);
      done.push(1);
    });
    await setTimeout(20);
    await Promise.all([3, 4, 5].map((owner) => run(quick, owner)));
    assert.ok(done.length < 6, `${done.length} works of the first owner came before`);
    await Promise.all(all);
  });

  it('reject work for which none can be started, as it may succeed later', async () => {
    const absent = createProcesses(new URL('no-such-file.js', import.meta.url));
    try {
      await assert.rejects(absent.run(quick, { owner: 1, signal: NEVER, limitMs: 30_000 }), ProcessesBusyError);
    } finally {
      absent.close();
    }
  });

  it('let the caller leave out the wait for a process', async () => {
    const first = run(slowWork);
    let [begun, ended] = [0, 0];
    const second = run(quick, 1, {
      outside(wait) {
        begun += 1;
        return wait.finally(() => (ended += 1));
      },
    });
    assert.deepEqual([begun, ended], [1, 0], 'the other work of the owner is being done');
    await Promise.all([first, second]);
    assert.ok(ended > 0 && ended === begun);
  });

  it('refuse an owner who has too much work that waits', async () => {
    const [first, second] = [run(slowWork), run(slowWork)];
    await assert.rejects(run(quick, 1, { maxWaiting: 1 }), ProcessesBusyError);
    assert.deepEqual(await run(quick, 2, { maxWaiting: 1 }), { kind: 'held', held: [0] });
    await Promise.all([first, second]);
  });
});
