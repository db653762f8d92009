import assert from 'node:assert/strict';
import { createRetentionRound, ROUND_MS } from '../../../api/background/retention.js';
import { createMetrics } from '../../../api/observability/metrics.js';
import { createLogger, type Logger } from '../../../telemetry/logger.js';
import { playedDatabase } from '../../support/played-database.js';

describe('a round of retention', () => {
  it('ends after a minute, between two batches, even if more data is due, and returns `unfinished`', async () => {
    assert.equal(ROUND_MS, 60_000);
    let batches = 0;
    const db = playedDatabase(({ sql }) => {
      if (sql.includes('pg_try_advisory_xact_lock')) return { rows: [{ isHeld: true }] };
      batches += 1;
      return { rows: [], numAffectedRows: 500n };
    });
    const deps = { db, logger: createLogger('test', 'silent'), metrics: createMetrics() };
    const round = createRetentionRound({ ...deps, config: { resultRetentionDays: 30 } }, 300);
    assert.equal(await round(new AbortController().signal), 'unfinished');
    assert.ok(batches >= 1, String(batches));
    const stopped = new AbortController();
    stopped.abort();
    const before = batches;
    assert.equal(await round(stopped.signal), 'unfinished');
    assert.equal(batches, before, 'nothing is begun when the process stops');
  });

  it('logs the failure of a step, also when a later step leaves data or finds another process at work', async () => {
    const refused = new Error('this table is broken');
    for (const outcome of ['unfinished', 'busy', 'done']) {
      let locks = 0;
      const db = playedDatabase(({ sql }) => {
        if (sql.includes('pg_try_advisory_xact_lock')) {
          locks += 1;
          return { rows: [{ isHeld: outcome !== 'busy' || locks === 1 }] };
        }
        if (locks === 1) throw refused;
        return { rows: [], numAffectedRows: outcome === 'unfinished' ? 500n : 0n };
      });
      const logged: unknown[] = [];
      const logger = { warn: ({ err }: { err: unknown }) => logged.push(err) } as unknown as Logger;
      const deps = { db, logger, metrics: createMetrics(), config: { resultRetentionDays: 30 } };
      const round = createRetentionRound(deps, 100)(new AbortController().signal);
      if (outcome === 'done') await assert.rejects(round, { cause: refused });
      else assert.equal(await round, outcome);
      assert.deepEqual(logged, [refused], outcome);
    }
  });
});
