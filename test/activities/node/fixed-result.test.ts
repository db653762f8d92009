import assert from 'node:assert/strict';
import { recordFixedResult } from '../../../activities/node/fixed-result.js';
import type { NodeDeps } from '../../../activities/node/node-step.js';
import type { FixedResult } from '../../../db/test-runs/test-runs-repository.js';
import { createMasker } from '../../../graph/mask.js';
import { playedDatabase } from '../../support/played-database.js';

const KEY = { runId: 'r', path: '', nodeId: 'n' };

describe('the fixed result of a node', () => {
  it('ends its node with quota_exceeded where the project has no room for it, and no later node reads it', async () => {
    const recorded: (readonly unknown[])[] = [];
    const db = playedDatabase(({ sql, parameters }) => {
      if (!sql.includes('INSERT INTO node_results'))
        return { rows: [{ status: 'failed', errorCode: 'quota_exceeded' }] };
      if (parameters.includes('succeed')) throw Object.assign(new Error('too much'), { code: 'QB413' });
      recorded.push(parameters);
      return { rows: [{ isSettled: true }] };
    });
    const plan = { ids: ['n'], kinds: ['http'], out: [[]], indegree: [0], labels: ['a call'] };
    const run = {
      masker: createMasker([]),
      node: () => ({ id: 'n', kind: 'http', data: {} }),
      planOf: () => plan,
    };
    const contexts = { load: async () => run, remember: () => assert.fail('there is no output') };
    const outcome = { output: { content: 'mocked' }, handles: [] };
    const fixed: FixedResult = { ...KEY, source: 'mock', isStale: false, outcome };
    const deps = { db, contexts } as unknown as NodeDeps;
    await assert.rejects(recordFixedResult(deps, KEY, fixed), { type: 'quota_exceeded', nonRetryable: true });
    assert.equal(recorded.length, 1);
    assert.ok(recorded[0]!.includes('failed') && recorded[0]!.includes('quota_exceeded'));
  });
});
