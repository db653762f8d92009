// Runs of one code node that receives files.
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient, type Envelope } from '../../harness/client/api-client.js';
import { drawing, linkInRow, node, trigger } from '../../harness/drawing/drawing.js';
import { sharedStack } from '../support/shared-stack.js';
import { createFileClient } from '../support/upload.js';

interface World {
  api: ApiClient;
  files: ReturnType<typeof createFileClient>;
  projectId: number;
}

/** The code has the files as `inputs.docs`. `world` is set once the tests run. */
export function useCodeWithFiles() {
  let world: World;

  before(async () => {
    const stack = await sharedStack();
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    world = { api, files: createFileClient(stack), projectId: await api.createProject() };
  });

  const begin = () => trigger([{ id: 'docs', title: 'Documents', type: 'files' }] as Record<string, unknown>[]);
  async function ended(code: string, docs: unknown[] = [], settings: object = { timeout: 30 }) {
    const { api, projectId } = world;
    const step = node('code', { code, inputs: { docs: '{{ input.docs }}' }, settings });
    const workflow = await api.createWorkflow(projectId, drawing(linkInRow([begin(), step])));
    const started = await api.run(workflow, { docs });
    assert.equal(started.status, 201, JSON.stringify(started));
    // This is longer than the node may take.
    const { data }: Envelope = await api.pollToEnd(started.data.id, { timeoutMs: 400_000 });
    return data.data![step.id]!;
  }
  return {
    world: () => world,
    valueOf: async (code: string, docs: unknown[] = []): Promise<unknown> => {
      const { result, error } = await ended(code, docs);
      assert.equal(error, undefined, JSON.stringify(error));
      return result!['value'];
    },
    /** Returns the code and the message of the error. */
    errorOf: async (code: string, docs: unknown[] = [], settings?: object): Promise<[string, string]> => {
      const { error } = await ended(code, docs, settings);
      return [error!.code, error!.message];
    },
  };
}
