import assert from 'node:assert/strict';
import { holdsMoreSecretPlacesThan } from '../../graph/secret-count.js';
import { splitSecrets } from '../../graph/secrets.js';

describe('the number of secrets of a drawing', () => {
  const nodes = [
    { id: 'h', type: 'http-node', data: { url: 'https://user:{{ input.x }}pass@host.test/' } },
    {
      id: 'm',
      type: 'mcp-node',
      data: { endpoint_url: 'https://user:pass@host.test/', headers: { 'x-api-key': 'k' } },
    },
    { id: 'a', type: 'agent-node', data: { tools: [{ type: 'mcp', endpoint_url: 'https://user:pass@host.test/' }] } },
    { id: 'n', type: 'http-node', data: { url: 'https://host.test/user@name' } },
  ];

  it('includes the credentials in addresses of nodes and of tools', () => {
    const { secrets } = splitSecrets({ nodes });
    assert.equal(Object.keys(secrets).length, 4);
    assert.equal(holdsMoreSecretPlacesThan({ nodes }, 4), false);
    assert.equal(holdsMoreSecretPlacesThan({ nodes }, 3), true);
  });
});
