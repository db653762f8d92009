// Workflows that were imported from files of n8n run, and give the same results as in n8n.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createApiClient, type ApiClient, type NodeEntry } from '../../harness/client/api-client.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';
import { callBack, callbackUrlOf, taskOf } from '../support/waiting.js';
import { cases, type ExpectedRun } from './n8n-files.js';

interface Imported {
  id: number;
  data: { nodes: { id: string; data: { label: string } }[] };
}

describe('files of n8n, imported and run', function () {
  this.timeout(600_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let tools: ToolServer;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    [target, tools] = await Promise.all([startHttpTarget(), startToolServer()]);
    project = await api.createProject('Imported');
    target.on('/articles/7', { body: { title: 'Tea', price: 12.5 } });
    target.on('/orders', {
      body: [
        { id: 1, price: 10 },
        { id: 2, price: 20 },
      ],
    });
    target.on('/rates', { body: { eur: 0.5 } });
    target.on('/state', { body: { state: 'ready' } });
    target.on('/text', { body: 'plain text' });
    const lines = [5, 10, 15].map((price, index) => ({ sku: 'abc'[index], price }));
    target.on('/cart', { body: { cart: { lines } } });
  });
  after(() => Promise.all([target.close(), tools.close()]));

  for (const { name, text, expected } of cases) {
    for (const [number, run] of (expected.runs ?? []).entries()) {
      it(`${name} runs${number === 0 ? '' : `, with another input (${number})`}`, async () => {
        const imported = await importFile(text);
        const { nodes, output } = await runToEnd(name, imported, run);
        for (const [label, result] of Object.entries(run.results)) {
          assertContains(nodes[label]?.result, result, `${label}: ${JSON.stringify(nodes[label])}`);
        }
        for (const label of run.notRun ?? []) assert.equal(nodes[label], undefined, label);
        if (run.output !== undefined) assert.deepEqual(output, run.output);
      });
    }
  }

  it('reserves only what the filter lets through, item by item', async () => {
    const paths = await pathsOf('split-out-each');
    assert.deepEqual(
      paths.filter((path) => path.startsWith('/reserve/')),
      ['/reserve/b', '/reserve/c'],
    );
  });

  it('makes as many attempts as the file says', async () => {
    const paths = await pathsOf('http-errors');
    assert.equal(paths.filter((path) => path === '/status/500').length, 2);
  });

  /** Runs a file with its first input, and returns the paths that the run has called. */
  async function pathsOf(name: string): Promise<string[]> {
    const { text, expected } = cases.find((each) => each.name === name)!;
    const before = target.requests.length;
    await runToEnd(name, await importFile(text), expected.runs![0]!);
    return target.requests.slice(before).map(({ path }) => path);
  }

  /** Imports a file after replacing its addresses and models by those of this test. */
  async function importFile(text: string): Promise<Imported> {
    const model = `n8n-${randomUUID()}`;
    stack.modelProvider.script(model, ({ body, messages }) => {
      if (body['response_format'] !== undefined) return { text: '{"colour": "red", "mood": "good"}' };
      const [last] = messages.slice(-1);
      if (body['tools'] === undefined) return {};
      return last?.role === 'tool'
        ? { text: 'It is 5.' }
        : { toolCalls: [{ name: toolName(body), arguments: { a: 2, b: 3 } }] };
    });
    const file = text
      .replaceAll('https://api.example.com', target.url)
      .replaceAll('https://mcp.example.com/mcp', tools.url)
      .replaceAll('gpt-4o-mini', model)
      .replaceAll('claude-sonnet', model);
    const { status, body } = await api.post<Imported>(`/projects/${project}/import/`, { text: file });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  async function runToEnd(name: string, { id, data }: Imported, run: ExpectedRun) {
    const started = await api.run(id, run.input);
    assert.equal(started.status, 201, JSON.stringify(started));
    const runId = started.data.id;
    const idOf = (label: string): string => data.nodes.find((node) => node.data.label === label)!.id;
    if (name === 'wait-for-call') {
      await callBack(await callbackUrlOf(api, runId, idOf('Wait for it')), '{"answer": "yes"}', 'application/json');
      const [asked] = target.requestsTo('/ask');
      assert.match(asked!.body, /"answer_to":"http[^"]+\/callbacks\//);
    }
    if (name === 'form-and-task') {
      const task = await taskOf(api, runId, idOf('Approve'));
      await api.post(`/human-tasks/${task}/answer/`, { body: { action: 'done', values: { Comment: 'fine' } } });
    }
    const { data: end } = await api.pollToEnd(runId, { timeoutMs: 240_000, intervalMs: 100 });
    assert.equal(end.status, run.status ?? 'succeed', JSON.stringify(end.data));
    const labels = new Map(data.nodes.map((node) => [node.id, node.data.label]));
    const nodes: Record<string, NodeEntry | undefined> = {};
    for (const [nodeId, entry] of Object.entries(end.data ?? {})) nodes[labels.get(nodeId) ?? nodeId] = entry;
    return { nodes, output: end.output };
  }
});

function toolName(body: Record<string, unknown>): string {
  const [tool] = body['tools'] as { function: { name: string } }[];
  return tool!.function.name;
}

/** Asserts that every part of `expected` is in `actual`; lists must be equal in length. */
function assertContains(actual: unknown, expected: unknown, message: string): void {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected)) {
    assert.deepEqual(actual, expected, message);
    return;
  }
  for (const [key, part] of Object.entries(expected)) {
    assertContains((actual as Record<string, unknown> | undefined)?.[key], part, message);
  }
}
