import assert from 'node:assert/strict';
import { chain } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount } from '../accounts.js';

describe('versioning', function () {
  this.timeout(120_000);

  it('every node kind states a version, and the version in a node`s data is kept', async () => {
    const { api } = await createAccount(await sharedStack());
    const kinds = (await api.get<{ version: unknown }[]>('/workflows/get_nodes/')).body;
    for (const { version } of kinds) assert.match(String(version), /^\d+(\.\d+)*$/);
    const data = chain(1);
    const versioned = {
      ...data,
      nodes: data.nodes.map((node) => ({ ...node, data: { ...node.data, version: '0.9-x' } })),
    };
    const id = await api.createWorkflow(await api.createProject(), versioned);
    const stored = (await api.get<{ data: typeof versioned }>(`/workflows/${id}/`)).body.data;
    assert.deepEqual(stored, versioned);
    assert.equal((await api.run(id)).status, 201);
  });

  it('the interface lives below /api/v1/ and the chat proxy below /v1/, and nowhere else', async () => {
    const { apiUrl, apiKey } = await sharedStack();
    const ask = async (path: string, method = 'GET'): Promise<number> =>
      (await fetch(`${apiUrl}${path}`, { method, headers: { 'x-api-key': apiKey } })).status;
    assert.equal(await ask('/api/v1/projects/'), 200);
    for (const path of ['/v1/projects/', '/api/projects/', '/api/v2/projects/', '/projects/']) {
      assert.equal(await ask(path), 404, path);
    }
    assert.equal(await ask('/v1/chat/completions', 'POST'), 401);
    for (const path of ['/api/v1/chat/completions', '/chat/completions', '/v2/chat/completions']) {
      assert.equal(await ask(path, 'POST'), 404, path);
    }
  });
});
