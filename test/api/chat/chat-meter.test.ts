import assert from 'node:assert/strict';
import { sql, type KyselyPlugin } from 'kysely';
import { pino } from 'pino';
import { createChatMeter } from '../../../api/chat/chat-meter.js';
import type { Database } from '../../../db/core/client.js';
import { readReserved } from '../../../db/spending/spending-repository.js';
import { connect, openRun } from '../../db/open-run.js';

describe('the meter of the chat proxy', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('charges nothing for a call that was stored, but not made because the database connection broke', async () => {
    const { projectId, userId } = await openRun(db, ['llm']);
    const reservedBefore: string[] = [];
    // The connection breaks after the commit.
    const breaking: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (!result.rows.some((row) => 'limited' in row)) return result;
        reservedBefore.push((await readReserved(db, projectId)).usd);
        throw new Error('Connection terminated unexpectedly');
      },
    };
    const meter = createChatMeter(db.withPlugin(breaking), pino({ level: 'silent' }));
    const provider = { name: 'p', baseUrl: 'http://p/v1', apiKey: 'k' };
    const model = {
      provider,
      inputPricePerMillion: '1',
      outputPricePerMillion: '1',
      priceVersion: 'v',
      accepts: [],
      stream: true,
    };
    const asked = { projectId, userId, modelName: 'm', model, characters: 30, body: { max_tokens: 999_990 } };
    await assert.rejects(meter.begin(asked), /terminated/);
    await meter.idle();
    assert.deepEqual(reservedBefore, ['1']);
    assert.equal((await readReserved(db, projectId)).usd, '0');
    const { rows } = await sql<{ status: string; amount_usd: string; reason: string }>`
      SELECT status, amount_usd, reason FROM billing_transactions WHERE project_id = ${projectId}`.execute(db);
    assert.deepEqual(rows, [{ status: 'Error', amount_usd: '0', reason: 'not_made' }]);
  });
});
