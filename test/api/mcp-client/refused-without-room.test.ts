import assert from 'node:assert/strict';
import { storeRefusedOf } from '../../../api/mcp-client/list-tools.js';
import { playedDatabase } from '../../support/played-database.js';

describe('tools of an MCP server that an agent cannot be offered', () => {
  const agent = { workflowId: 1, version: 1, nodeId: 'a', servers: [{ label: 's', allowed: undefined }] };
  const store = (code: string): Promise<void> => {
    const db = playedDatabase(() => {
      throw Object.assign(new Error('the write is refused'), { code });
    });
    return storeRefusedOf({ db }, agent, [{ name: '' }], (text) => text);
  };

  it('are not stored while PostgreSQL has no room for changes, and the list is answered', async () => {
    for (const code of ['25006', '53100']) await store(code);
  });

  it('make the request fail for any other error', async () => {
    await assert.rejects(store('57P01'), { code: '57P01' });
  });
});
