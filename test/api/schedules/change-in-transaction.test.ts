import assert from 'node:assert/strict';
import { updateSchedule } from '../../../db/schedules/schedules-repository.js';
import type { Db } from '../../../db/core/client.js';
import { playedDatabase } from '../../support/played-database.js';

describe('a change of a schedule', () => {
  it('is computed with the transaction that holds the row, so that it takes no second connection', async () => {
    const db = playedDatabase(() => ({ rows: [{ id: 's' }], numAffectedRows: 1n }));
    const used: Db[] = [];
    const reason = new Error('seen');
    const change = (_stored: unknown, transaction: Db): Promise<never> => {
      used.push(transaction);
      return Promise.reject(reason);
    };
    await assert.rejects(updateSchedule(db, { workflowId: 1, scheduleId: 's' }, change), reason);
    assert.deepEqual(
      used.map(({ isTransaction }) => isTransaction),
      [true],
    );
  });
});
