import assert from 'node:assert/strict';
import { modelParameters } from '../../graph/model-parameters.js';
import { agentNode } from '../../graph/nodes/agent.js';
import { llmNode } from '../../graph/nodes/llm.js';

/** The declared settings that are parameters of chat completions. */
const OF_PROVIDERS = ['max_tokens', 'response_format', 'temperature', 'top_p'];

const NONE = { input: {}, results: new Map() };

describe('the parameters of a model call', () => {
  for (const [kind, { schema }] of Object.entries({ llm: llmNode, agent: agentNode }))
    it(`are no settings that only this service reads: ${kind}`, () => {
      const declared = Object.keys(schema.shape.settings.shape);
      assert.ok(declared.includes('timeout'), declared.join());
      const sent = modelParameters(Object.fromEntries(declared.map((name) => [name, 1])), NONE);
      assert.deepEqual(
        Object.keys(sent).filter((name) => !OF_PROVIDERS.includes(name)),
        [],
      );
    });

  it('are the settings that no node declares, too', () => {
    assert.deepEqual(modelParameters({ model_name: 'm', seed: 7, stop: null }, NONE), { seed: 7 });
  });
});
