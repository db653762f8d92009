import assert from 'node:assert/strict';
import { HeavyWork } from '../../../api/http/heavy-work.js';
import { LazyJson, type AnswerMemory } from '../../../api/http/json-text.js';
import { toExample } from '../../../api/marketplace/example-view.js';
import type { HistoryRun } from '../../../db/runs/history-repository.js';
import { drawing, http } from '../../../harness/drawing/drawing.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { PARSED_COPIES } from '../../../memory/json-copies.js';
import { playedDatabase } from '../../support/played-database.js';

const INPUT_BYTES = 40 * 1024 * 1024;

describe('the input of an example', () => {
  it('takes the memory of its own size while it is masked, also if it is larger than a body may be', async () => {
    const bytes = Buffer.from('{"note":"the key is canary-0123456789"}');
    const db = playedDatabase(({ sql }) => ({
      rows: /FETCH|LIMIT 1/.test(sql) ? [{ bytes, total: bytes.length }] : [],
    }));
    const deps = { db, currencies: new Map(), heavyWork: new HeavyWork(), secretBox: {} };
    const document = JSON.stringify(
      drawing([http('https://a.example', { headers: { 'X-Api-Key': 'canary-0123456789' } })]),
    );
    const run = {
      id: crypto.randomUUID(),
      project_id: 1,
      created_at: new Date(0),
      cost_usd: '0',
      document,
      documentBytes: document.length,
      input: null,
      input_bytes: INPUT_BYTES,
      secrets_enc: null,
      node_errors: null,
      nodes: [],
    } as unknown as HistoryRun;
    const memory = new ByteBudget({ totalBytes: 2 ** 30, uncountedBytes: 0 }).lease('test');
    const asker = { tenant: 'test', signal: new AbortController().signal, memory };
    const example = await toExample(deps as unknown as Parameters<typeof toExample>[0], asker, run);
    const input = example['input_data'];
    assert.ok(input instanceof LazyJson);
    let [heldBytes, mostBytes] = [0, 0];
    const answerMemory: AnswerMemory = {
      take(size) {
        heldBytes += size;
        mostBytes = Math.max(mostBytes, heldBytes);
        return Promise.resolve();
      },
      give: (size) => void (heldBytes -= size),
    };
    let text = '';
    for await (const piece of input.pieces(answerMemory)) text += piece;
    assert.equal(text, '{"note":"the key is ********"}');
    assert.ok(mostBytes >= PARSED_COPIES * INPUT_BYTES, `${mostBytes}`);
    assert.equal(heldBytes, 0);
  });
});
