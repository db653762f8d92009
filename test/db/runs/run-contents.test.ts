import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { openRunContents, readSecrets } from '../../../db/runs/run-contents.js';

describe('the contents of a run whose drawing an earlier build has stored', () => {
  it('are masked by what its headers and addresses hold, before they are sealed', () => {
    const data = { url: 'https://user:p%40ssword@a.test/', headers: { Authorization: 'Bearer old-credential' } };
    const document = { nodes: [{ id: 'h', type: 'http-node', data }] };
    const stored = {
      runId: randomUUID(),
      projectId: 1,
      input: '{}',
      inputEnc: null,
      secretsEnc: null,
      passedSecretsEnc: null,
    } as never;
    const { masker } = openRunContents(stored, readSecrets(document), createSecretBox([randomBytes(32)]));
    const text = masker.text('old-credential of p@ssword at https://user:p%40ssword@a.test/');
    assert.equal(text, '******** of ******** at https://********@a.test/');
  });
});
