// What a model call that fails costs, and how that is recorded.
import assert from 'node:assert/strict';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { CompiledQuery } from 'kysely';
import { APIConnectionError, APIError } from 'openai';
import { askModel } from '../../../../activities/kinds/llm/ask-model.js';
import type { ModelClient, ModelClients } from '../../../../activities/kinds/llm/model-clients.js';
import type { LiveTexts } from '../../../../activities/live/live-texts.js';
import { NodeFailure } from '../../../../activities/node/failures.js';
import type { NodeDeps, NodeTask } from '../../../../activities/node/node-step.js';
import { createMasker } from '../../../../graph/mask.js';
import type { ResolvedModel } from '../../../../config/model-providers.js';
import { createLogger } from '../../../../telemetry/logger.js';
import { playedDatabase } from '../../../support/played-database.js';

const FREE = { inputPricePerMillion: '0', outputPricePerMillion: '0', accepts: [], stream: false, priceVersion: 'v' };
const model = { ...FREE, provider: { name: 'p', baseUrl: 'http://p.test', apiKey: 'k' } } as unknown as ResolvedModel;
const unreachable = new APIConnectionError({ cause: new Error('connect ECONNREFUSED') });
const refusal = new APIError(400, undefined, 'Unknown field: stream', new Headers());

type Recorded = 'refused' | 'cut';

function recordIn({ sql }: CompiledQuery): Recorded | undefined {
  if (sql.includes('cut_calls')) return 'cut';
  return sql.includes("SET state = 'refused'") ? 'refused' : undefined;
}

describe('a model call without an answer', () => {
  /** Makes the call. The first `failures` records of its cost find no database. */
  async function recordsOf(complete: ModelClient['complete'], failures = 0): Promise<Recorded[]> {
    let outages = failures;
    const records: Recorded[] = [];
    const db = playedDatabase((query) => {
      const record = recordIn(query);
      if (record !== undefined && outages > 0) {
        outages -= 1;
        throw Object.assign(new Error('terminating connection'), { code: '57P01' });
      }
      if (record !== undefined) records.push(record);
      return { rows: [{ attempts: 1, crashes: 0, hasReaders: false }] };
    });
    const client = { complete, masker: createMasker([]), countTokens: () => undefined };
    const deps = {
      node: { db, logger: createLogger('worker', 'silent') } as unknown as NodeDeps,
      clients: { forProject: async () => client } as ModelClients,
      live: {} as LiveTexts,
    };
    const run = { projectId: 1, masker: createMasker([]) };
    const { signal } = new AbortController();
    const task = { runId: 'r', path: '', nodeId: 'n', run, signal } as unknown as NodeTask;
    const body = { model: 'm', messages: [], stream: false as const };
    const asked = { turn: 0, model, timeoutMs: 1_000, body, idempotencyTurn: undefined };
    const failure: unknown = await new MockActivityEnvironment().run(() =>
      askModel(deps, task, asked).then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
    assert.ok(failure instanceof NodeFailure, String(failure));
    return records;
  }

  it('costs nothing if it was refused, and its repeat could not be sent', async () => {
    const records = await recordsOf(async (_body, { onRequest, onSent }) => {
      onRequest();
      onSent();
      onRequest();
      throw unreachable;
    });
    assert.deepEqual(records, ['refused']);
  });

  it('costs what was reserved if its repeat was sent', async () => {
    const records = await recordsOf(async (_body, { onRequest, onSent }) => {
      onRequest();
      onSent();
      onRequest();
      onSent();
      throw unreachable;
    });
    assert.deepEqual(records, ['cut']);
  });

  it('has its cost recorded once the database answers again', async () => {
    const sent =
      (error: Error): ModelClient['complete'] =>
      async (_body, { onRequest, onSent }) => {
        onRequest();
        onSent();
        throw error;
      };
    assert.deepEqual(await recordsOf(sent(refusal), 2), ['refused']);
    assert.deepEqual(await recordsOf(sent(unreachable), 2), ['cut']);
  });
});
