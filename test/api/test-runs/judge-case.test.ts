// Expectations are judged one by one. Those with a costly pattern are judged in another process.
import assert from 'node:assert/strict';
import type { Db } from '../../../db/core/client.js';
import { judgeCase } from '../../../api/test-runs/judge-case.js';
import type { Expectation } from '../../../db/test-runs/cases-repository.js';
import { ProcessesBusyError, type Processes } from '../../../processes/processes.js';
import { perform } from '../../../processes/work.js';

describe('the expectations of a case', () => {
  // These expectations name no node and no output, so that nothing is read from the database.
  const expecting = (operator: Expectation['operator'], right: string): Expectation => ({ path: '', operator, right });
  const empty = expecting('==', '');
  const broken = expecting('matches', '({{ input.a }}');
  const costly = expecting('matches', 'a{900}');
  const processes: Processes = {
    run: async (work) => perform(work),
    close: () => undefined,
  };

  async function judge(expect: Expectation[], by: Processes = processes) {
    const ended = { runStatus: 'Succeeded' as const, errorCode: null, errorMessage: null };
    const result = { caseId: 1, runId: 'run', status: 'in progress' as const, costUsd: '0', ...ended };
    return judgeCase({ db: {} as Db, processes: by }, { ...result, detail: { expect, failures: [] } }, 7);
  }

  it('fail one by one where their pattern cannot be used, here and in a process', async () => {
    for (const expect of [
      [empty, broken, empty],
      [empty, broken, costly],
    ]) {
      const judged = await judge(expect);
      const failed = judged?.detail.failures.map(({ expectation }) => expectation);
      assert.deepEqual([judged?.status, failed], ['failed', expect.filter((each) => each !== empty)]);
    }
  });

  it('count for the user who runs the cases, and wait for a later round where the user has too much to judge', async () => {
    const owners: number[] = [];
    const busy: Processes = {
      ...processes,
      async run(_work, { owner }) {
        owners.push(owner);
        throw new ProcessesBusyError('Too much work waits.');
      },
    };
    assert.equal(await judge([costly], busy), undefined);
    assert.deepEqual(owners, [7]);
  });
});
