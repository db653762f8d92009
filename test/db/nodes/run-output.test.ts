import assert from 'node:assert/strict';
import type { Database } from '../../../db/core/client.js';
import { recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import { readRunForPoll, TOGETHER_BYTES } from '../../../db/runs/poll-repository.js';
import { readOutputPieces, valueStartOf } from '../../../db/nodes/run-output.js';
import { orderRunEvents, readRunEvents, type RunEvent } from '../../../db/runs/run-events-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { writeJson } from '../../../graph/json-text.js';
import { connect, nodeEnd, openRun, untilWaiting, type OpenRun } from '../open-run.js';

describe('the output of a run', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  async function begin(outputs: number): Promise<OpenRun> {
    const run = await openRun(
      db,
      Array.from({ length: outputs }, () => 'output' as const),
    );
    const member = { project_id: run.projectId, user_id: run.userId, role: 'owner' as const };
    await db.insertInto('project_members').values(member).execute();
    return run;
  }

  function end(run: OpenRun, node: number, value: unknown, path = ''): ReturnType<typeof nodeEnd> {
    const content = typeof value === 'string' ? value : writeJson(value);
    return nodeEnd(run, run.nodeIds[node]!, 'output', { path, result: writeJson({ content, value }) });
  }

  async function wholeOf(pieces: AsyncIterable<string>): Promise<string> {
    let whole = '';
    for await (const piece of pieces) whole += piece;
    return whole;
  }

  const polled = (run: OpenRun) => readRunForPoll(db, { runId: run.id, userId: run.userId }, 30);

  it('is there with the end of its output node, and not before', async () => {
    const run = await begin(1);
    assert.equal((await polled(run))!.output, undefined);
    await recordNodeEnd(db, end(run, 0, { a: 1 }));
    assert.deepEqual((await polled(run))!.output, { text: '{"a":1}' });
  });

  const values: [title: string, value: unknown][] = [
    ['a text with quotes', 'she said "no", \\ and left: {"value":1}'],
    ['a text of all scripts', 'grüße 漢字 🙂 \u{1d11e}'],
    ['an object whose content has them, too', { '🙂"value":': ['🙂', '\u0001', '\ud800'] }],
    ['nothing', ''],
    ['null', null],
    ['a number', -0.5],
    ['a list', [[], {}, [0]]],
  ];
  for (const [title, value] of values) {
    it(`is cut out of the result to the character: ${title}`, async () => {
      const run = await begin(1);
      await recordNodeEnd(db, end(run, 0, value));
      const { text } = (await polled(run))!.output!;
      assert.equal(text, JSON.stringify(value));
      assert.equal(await wholeOf(readOutputPieces(db, run.id)), text);
    });
  }

  it('begins where the value does, counted in characters', () => {
    assert.equal(valueStartOf('{"content":"","value":1}'), 23);
    assert.equal(valueStartOf('{"content":"🙂","value":1}'), 24);
    assert.equal(valueStartOf(String.raw`{"content":"\"","value":1}`), 25);
  });

  it('is that of the node whose end was recorded first, also for one that begins its record at the same time', async () => {
    const run = await begin(3);
    let second: Promise<boolean> | undefined;
    await db.transaction().execute(async (trx) => {
      await recordNodeEnd(trx, end(run, 2, 'the first'));
      second = recordNodeEnd(db, end(run, 0, 'the second'));
      await untilWaiting('WITH open_run AS');
      assert.equal((await polled(run))!.output, undefined, 'nothing is shown that might not stay');
    });
    assert.equal(await second, true, 'the other node has ended as well');
    await recordNodeEnd(db, end(run, 1, 'the third'));
    assert.equal(await recordNodeEnd(db, end(run, 2, 'again')), false);
    assert.deepEqual((await polled(run))!.output, { text: '"the first"' });
  });

  it('never changes, whichever of many ends are recorded at once', async () => {
    const run = await begin(8);
    const seen = new Set<string>();
    const done = new AbortController();
    const watching = (async () => {
      while (!done.signal.aborted) {
        const { output } = (await polled(run))!;
        if (output !== undefined) seen.add(output.text!);
      }
    })();
    await Promise.all(run.nodeIds.map((_id, node) => recordNodeEnd(db, end(run, node, node))));
    done.abort();
    await watching;
    seen.add((await polled(run))!.output!.text!);
    assert.equal(seen.size, 1, [...seen].join());
  });

  it('may come out of an iteration', async () => {
    const run = await begin(1);
    await recordNodeEnd(db, end(run, 0, 'inside', 'LOOP[3]'));
    assert.deepEqual((await polled(run))!.output, { text: '"inside"' });
  });

  it('is none where the output node has failed', async () => {
    const run = await begin(1);
    const failed = { status: 'failed' as const, result: null, errorCode: 'x', errorMessage: 'x' };
    await recordNodeEnd(db, { ...end(run, 0, 1), ...failed });
    assert.equal((await polled(run))!.output, undefined);
  });

  it('that is too large to be read with the run is read piece by piece', async () => {
    const run = await begin(1);
    const value = { text: '🙂'.repeat(TOGETHER_BYTES) };
    await recordNodeEnd(db, end(run, 0, value));
    assert.deepEqual((await polled(run))!.output, { text: null });
    assert.equal(await wholeOf(readOutputPieces(db, run.id)), JSON.stringify(value));
  });

  it('is told with the end of the run', async () => {
    for (const value of [{ a: [1] }, { text: 'x'.repeat(20_000) }]) {
      const run = await begin(1);
      await recordNodeEnd(db, end(run, 0, value));
      await endRun(db, run.id, { status: 'succeed' });
      await orderRunEvents(db, [run.id]);
      const events = (await readRunEvents(db, [{ runId: run.id, after: 0 }], 10)).get(run.id)!;
      const told = events.filter(({ kind }) => kind === 'run').map((event: RunEvent) => [event.status, event.content]);
      const isSmall = JSON.stringify(value).length < 16_000;
      assert.deepEqual(told, [['Succeeded', { output: isSmall ? JSON.stringify(value) : null }]]);
      assert.equal(events.at(-1)!.apartBytes === null, isSmall);
    }
  });

  it('goes with the results of the run', async () => {
    const run = await begin(1);
    await recordNodeEnd(db, end(run, 0, 1));
    await endRun(db, run.id, { status: 'succeed' });
    await db.updateTable('runs').set({ results_expired_at: new Date() }).where('id', '=', run.id).execute();
    const expired = (await polled(run))!;
    assert.deepEqual([expired.isExpired, expired.output], [true, undefined]);
  });
});
