import assert from 'node:assert/strict';
import { pino } from 'pino';
import { renderNodeInput } from '../../../api/runs/rendered-input.js';
import type { RunDeps } from '../../../api/runs/deps.js';
import { HeavyWork } from '../../../api/http/heavy-work.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { compilePlan } from '../../../graph/compile-plan.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import { drawing, http, link, node, trigger } from '../../../harness/drawing/drawing.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { playedDatabase } from '../../support/played-database.js';

describe('the input of a node in a loop', () => {
  const body = http('');
  const loop = node('for_each', { items: [1], body_node: body.id });
  body.data['url'] = `https://example.com/{{ ${loop.id}.item }}`;
  const start = trigger();
  link(start, loop);
  const document = drawing([start, loop, body]);

  const render = (itemOf: () => unknown) => {
    const compiled = compilePlan(document);
    assert.ok(compiled.ok);
    const { plan } = compiled;
    const db = playedDatabase(({ sql }) => {
      if (sql.includes('loop_items')) return { rows: [itemOf()] };
      if (sql.includes('"inputBytes"')) return { rows: [{ inputBytes: 2, documentBytes: 2 }] };
      if (sql.includes('graph_snapshots')) return { rows: [{ document, plan, size: 2 }] };
      const sealed = { inputEnc: null, secretsEnc: null, passedSecretsEnc: null };
      if (sql.includes('"passedSecretsEnc"')) return { rows: [{ runId: 'r', projectId: 1, input: '{}', ...sealed }] };
      return { rows: [] };
    });
    const memory = new ByteBudget({ totalBytes: 100_000_000, uncountedBytes: 0 }).lease('user:1');
    const deps = { db, secretBox: createSecretBox([Buffer.alloc(32)]), heavyWork: new HeavyWork() };
    const key = { runId: 'r', path: iterationPath('', loop.id, 0), nodeId: body.id };
    const asker = { tenant: 'user:1', signal: new AbortController().signal };
    const asked = { key, moment: new Date(), log: pino({ level: 'silent' }), memory, asker };
    return renderNodeInput(deps as unknown as RunDeps, asked);
  };

  it('is unreadable if an item cannot be opened', async () => {
    assert.equal(await render(() => ({ itemEnc: Buffer.from('not sealed') })), 'unreadable');
  });

  it('is no answer while the database is away', async () => {
    const away = Object.assign(new Error('terminating connection'), { code: '57P01' });
    const asked = render(() => {
      throw away;
    });
    await assert.rejects(asked, away);
  });
});
