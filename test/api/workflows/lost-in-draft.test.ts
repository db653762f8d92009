import assert from 'node:assert/strict';
import type { ApiError } from '../../../api/http/errors.js';
import { refuseLoss } from '../../../api/workflows/drawing-secrets.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { splitSecrets } from '../../../graph/secrets.js';

describe('a drawing with values that only the draft has', () => {
  it('is refused with 20 places at most', () => {
    const drawingWith = (authorization: string) => ({
      nodes: Array.from({ length: 30 }, (_, at) => ({
        id: `n${at}`,
        type: 'http-node',
        data: { url: 'https://example.com', headers: { authorization } },
      })),
    });
    const { masked, secrets } = splitSecrets(drawingWith('Bearer secret-value'));
    const stored = { id: 1, project_id: 1, document: { nodes: [] }, secrets_enc: null };
    const box = createSecretBox([Buffer.alloc(32)]);
    const draft = { data: masked, secrets };
    assert.throws(
      () => refuseLoss(box, drawingWith('********'), stored, draft),
      (error: ApiError) => {
        assert.deepEqual([error.status, error.fields?.['data']?.length], [400, 20]);
        return true;
      },
    );
  });
});
