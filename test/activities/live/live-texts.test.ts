import assert from 'node:assert/strict';
import { createLiveTexts } from '../../../activities/live/live-texts.js';
import { createMasker } from '../../../graph/mask.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import type { Logger } from '../../../telemetry/logger.js';
import { playedDatabase } from '../../support/played-database.js';

describe('the text of models while the database refuses writes', () => {
  it('is tried in each round, and the first failure of several is logged', async () => {
    let rounds = 0;
    let isReadOnly = true;
    const db = playedDatabase(() => {
      rounds += 1;
      if (isReadOnly) throw Object.assign(new Error('cannot execute in a read-only transaction'), { code: '25006' });
      return { rows: [] };
    });
    let warnings = 0;
    const logger = { warn: () => void (warnings += 1) } as unknown as Logger;
    const memory = new ByteBudget({ totalBytes: 1e6, uncountedBytes: 0 });
    const key = { runId: 'r', path: '', nodeId: 'n', attempt: 1, step: 0 };
    const step = { ...key, projectId: 1, hasReaders: false, masker: createMasker([]) };
    const text = createLiveTexts({ db, memory, logger }).begin(step);
    const nextRounds = async (count: number): Promise<void> => {
      const wanted = rounds + count;
      await eventually(() => rounds >= wanted);
    };
    try {
      await nextRounds(4);
      assert.equal(warnings, 1);
      isReadOnly = false;
      await nextRounds(2);
      isReadOnly = true;
      await nextRounds(3);
      assert.equal(warnings, 2);
    } finally {
      text.drop();
    }
  });
});
