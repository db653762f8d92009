import assert from 'node:assert/strict';
import { toSummary } from '../../../acceptance/run-summary.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { chain, llm } from '../../../harness/drawing/drawing.js';
import { withTemporal } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import { createAccount } from '../accounts.js';

interface Linked {
  items?: Linked[];
  temporal_url?: string;
}

describe('a run and its page in the Temporal UI', function () {
  this.timeout(120_000);
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
  });

  it('lead to each other', async () => {
    const { api } = await createAccount(stack);
    const { runId, workflowId } = await api.runToEnd(chain(1));
    const history = `/workflows/${workflowId}/history/`;
    const { temporal_ui_url: ui, temporal_namespace: namespace } = stack.stack;
    const url = `${ui}/namespaces/${namespace}/workflows/${runId}`;
    assert.equal((await api.get<Linked>(`${history}${runId}/`)).body.temporal_url, url);
    assert.equal((await api.get<Linked>(history)).body.items?.[0]?.temporal_url, url);
    assert.equal((await fetch(url)).status, 200);

    const described = await withTemporal(stack, (client) => client.workflow.getHandle(runId).describe());
    const details = (await described.staticDetails()) ?? '';
    const links = [...details.matchAll(/\]\((.*?)\)/g)].map(([, link]) => link!);
    assert.equal(links.length, 3);
    const headers = { 'x-api-key': stack.apiKey };
    for (const link of links) {
      assert.ok(link.startsWith(stack.apiUrl) && link.includes(runId), link);
      // The run belongs to another user than the key: knowing the address is no permission.
      assert.equal((await fetch(link, { headers })).status, 404, link);
      assert.equal((await fetch(link)).status, 401, link);
    }
    assert.match(details, new RegExp(`\\[${runId}\\]`));
  });

  it('have no link without TEMPORAL_UI_URL, and none for a run that was refused', async () => {
    const { api, apiKey } = await createAccount(stack);
    const { runId, workflowId } = await api.runToEnd(chain(1));
    const refused = await api.createWorkflow(
      await api.createProject(),
      chain(2, () => llm('')),
    );
    const draft = (await api.run(refused)).data.id;
    assert.equal('temporal_url' in (await api.get<Linked>(`/workflows/${refused}/history/${draft}/`)).body, false);
    const silent = await startApiProcess(stack, { TEMPORAL_UI_URL: '' });
    try {
      const path = `/api/v1/workflows/${workflowId}/history/${runId}/`;
      const { body } = await createApiClient(silent.apiUrl, apiKey).get<Linked>(path.slice('/api/v1'.length));
      assert.equal('temporal_url' in body, false);
    } finally {
      await silent.stop();
    }
  });

  it('show a title as it was typed, and never as a link or an image in the operators’ browser', () => {
    assert.equal(toSummary('Orders of May, 2026 (EU)'), 'Orders of May, 2026 (EU)');
    assert.equal(
      toSummary('[pay](http://evil) ![](http://evil/x) <img src=x>'),
      '\\[pay\\](http://evil) \\!\\[\\](http://evil/x) \\<img src=x\\>',
    );
    assert.ok(Buffer.byteLength(toSummary('*é'.repeat(500))) <= 360);
  });
});
