import assert from 'node:assert/strict';
import { judgeRun } from '../../bench/rows/kill.js';
import type { RecordedCall } from '../../harness/target/target-process.js';

const KILLED_AT = 1_000;
const calls = (...made: [number: number, at: number][]): RecordedCall[] =>
  made.map(([number, at]) => [`/run-1/${number}`, at, at + 1, `GET /run-1/${number}`]);

describe('what the target says about a kill', () => {
  it('a run that makes its open call again has repeated nothing that was finished', () => {
    const judged = judgeRun(calls([1, 800], [2, 900], [2, 1_400], [3, 1_500]), 'run-1', KILLED_AT);
    assert.deepEqual(judged, { pauseMs: 400, finishedRepeated: 0, openRepeated: 1 });
  });

  it('calls before the open one that are made again are counted', () => {
    const judged = judgeRun(
      calls([1, 700], [2, 800], [3, 900], [1, 9_000], [2, 9_100], [3, 9_200]),
      'run-1',
      KILLED_AT,
    );
    assert.deepEqual(judged, { pauseMs: 8_000, finishedRepeated: 2, openRepeated: 1 });
  });

  it('a run that had made its last call has no pause', () => {
    assert.equal(judgeRun(calls([1, 700], [2, 800]), 'run-1', KILLED_AT).pauseMs, undefined);
  });

  it('a run that begins after the kill repeats nothing', () => {
    const judged = judgeRun(calls([1, 3_000], [2, 3_100]), 'run-1', KILLED_AT);
    assert.deepEqual(judged, { pauseMs: 2_000, finishedRepeated: 0, openRepeated: 0 });
  });

  it('tells runs apart whose tags begin alike', () => {
    const others: RecordedCall[] = [['/run-10/4', 1_100, 1_101, 'GET /run-10/4']];
    assert.equal(judgeRun([...calls([1, 900]), ...others], 'run-1', KILLED_AT).pauseMs, undefined);
  });
});
