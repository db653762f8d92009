// A process that is stopped leaves cases to later rounds.
import assert from 'node:assert/strict';
import type { TestDeps } from '../../../api/test-runs/deps.js';
import { driveCases } from '../../../api/test-runs/run-cases.js';
import type { CaseRun } from '../../../db/test-runs/case-runs-repository.js';
import { playedDatabase } from '../../support/played-database.js';

describe('the cases of a case run', () => {
  it('are left to a later round once the process is stopped, which may be while a run is being cancelled', async () => {
    const stopped = new AbortController();
    const results = ['r1', 'r2', 'r3', 'r4'].map((runId, caseId) => {
      return { caseId, runId, status: 'in progress', runStatus: 'In Progress', isCancelRequested: false, costUsd: '0' };
    });
    const cancelled: unknown[] = [];
    const db = playedDatabase(({ sql, parameters }) => {
      if (sql.includes('"case_results"')) return { rows: results };
      if (!sql.includes('from "runs"')) return { rows: [] };
      cancelled.push(parameters[0]);
      stopped.abort();
      return { rows: [] };
    });
    const run = { id: 'c', workflowId: 1, userId: 1, isUserActive: true, isCancelled: true, maxCostUsd: null };
    await driveCases({ db } as unknown as TestDeps, {} as never, run as unknown as CaseRun, stopped.signal);
    assert.deepEqual(cancelled, ['r1']);
  });
});
