import assert from 'node:assert/strict';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type CompiledQuery,
  type DatabaseConnection,
  type KyselyPlugin,
} from 'kysely';
import { pino } from 'pino';
import { createChatMeter } from '../../../api/chat/chat-meter.js';
import type { Database } from '../../../db/core/client.js';
import type { Tables } from '../../../db/core/tables.js';
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

describe('the meter of a process that has just started', () => {
  it('ends no calls of other processes yet, because they may not have renewed theirs since an outage', async () => {
    const statements: string[] = [];
    class Recorder extends DummyDriver {
      override acquireConnection(): Promise<DatabaseConnection> {
        const executeQuery = async ({ sql: text }: CompiledQuery) => {
          statements.push(text);
          return { rows: [] };
        };
        return Promise.resolve({ executeQuery, streamQuery: () => assert.fail('no statement is streamed') });
      }
    }
    const db = new Kysely<Tables>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new Recorder(),
        createIntrospector: (of) => new PostgresIntrospector(of),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    });
    const loop = createChatMeter(db, pino({ level: 'silent' })).start();
    // Resolves when the first round has ended, which begins at once.
    await loop.stop();
    assert.deepEqual(statements, []);
  });
});
