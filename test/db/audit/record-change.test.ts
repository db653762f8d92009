import assert from 'node:assert/strict';
import { lockNameOf } from '../../../db/audit/record-change.js';

describe('the lock of an audited object', () => {
  it('is the same for callers that know its project and those that do not', () => {
    assert.equal(lockNameOf('provider_key', { id: 5, projectId: 7 }), lockNameOf('provider_key', { id: 5 }));
    assert.equal(lockNameOf('workflow', { id: 5, projectId: 7 }), lockNameOf('workflow', { id: 5 }));
  });

  it('differs between types, and between objects whose id alone does not identify them', () => {
    const keys = [
      lockNameOf('user', { id: 5 }),
      lockNameOf('member', { id: 5, projectId: 7 }),
      lockNameOf('member', { id: 5, projectId: 8 }),
      lockNameOf('pin', { id: 'greet', projectId: 7, workflowId: 1 }),
      lockNameOf('pin', { id: 'greet', projectId: 7, workflowId: 2 }),
    ];
    assert.equal(new Set(keys).size, keys.length);
  });
});
