import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { createApiClient, type ApiClient, type NodeEntry } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, drawing, http, link, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, type Account } from '../accounts.js';
import { NOT_FOUND } from '../bodies.js';
import { markRun, publish } from '../marketplace-setup.js';

interface Example {
  id: string;
  created_at: string;
  cost: Record<string, string>;
  result: Record<string, NodeEntry & { truncated?: boolean }>;
  input_data: unknown;
  data: unknown;
}

const canary = (): string => `canary-${randomBytes(12).toString('hex')}`;

describe('marketplace examples', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let author: Account;
  let anybody: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    author = await createAccount(stack);
    anybody = createApiClient(stack.apiUrl);
    target = await startHttpTarget();
  });
  after(() => target.close());

  const list = async (slug: string): Promise<Example[]> => {
    const { status, body } = await anybody.get<Example[]>(`/workflows/marketplace/${slug}/examples/`);
    assert.equal(status, 200);
    return body;
  };
  const read = (slug: string, runId: string) =>
    anybody.get<Example>(`/workflows/marketplace/${slug}/examples/${runId}/`);

  it('200: an example has the six fields of the specification, in the bare array and alone', async () => {
    const data = drawing([trigger([{ id: 'a', type: 'text' }])]);
    const { workflowId, runId, slug } = await publish(stack, author, {}, data, { a: 'x' });
    await markRun(stack, runId, 'use_in_marketplace_example');
    const run = await author.api.history(workflowId, runId);
    const expected = {
      id: runId,
      created_at: run['created_at'],
      cost: run.cost,
      result: run['result'],
      input_data: { a: 'x' },
      data: JSON.parse(JSON.stringify(data)) as unknown,
    };
    assert.deepEqual(await list(slug), [expected]);
    const { status, body } = await read(slug, runId);
    assert.deepEqual([status, body], [200, expected]);
  });

  it('200: a workflow may have several examples, newest first, or none', async () => {
    const { workflowId, runId, slug } = await publish(stack, author);
    assert.deepEqual(await list(slug), []);
    const ids = [runId];
    for (const _ of [1, 2]) {
      ids.push((await author.api.run(workflowId)).data.id);
      await author.api.pollToEnd(ids.at(-1)!);
    }
    for (const id of [ids[0]!, ids[2]!]) await markRun(stack, id, 'use_in_marketplace_example');
    assert.deepEqual(
      (await list(slug)).map(({ id }) => id),
      [ids[2], ids[0]],
    );
  });

  it('404: a run that is missing, not marked, of another workflow, or no UUID', async () => {
    const { runId, slug } = await publish(stack, author);
    const other = await publish(stack, author);
    await markRun(stack, other.runId, 'use_in_marketplace_example');
    for (const id of [runId, other.runId, randomUUID(), 'abc']) {
      const { status, body } = await read(slug, id);
      assert.deepEqual([status, body], [404, NOT_FOUND], id);
    }
  });

  it('secrets and credential headers are masked in data, input and results, wherever they turn up', async () => {
    const [stored, given, headerKey] = [canary(), canary(), canary()];
    const start = trigger([
      { id: 'token', type: 'text', is_secret: true, default_value: stored },
      { id: 'note', type: 'text' },
    ]);
    // The target echoes its requests. The literal key in the header is no secret field, but must be masked as well.
    const call = http(`${target.url}/echo`, {
      method: 'POST',
      headers: { 'X-Token': '{{ input.token }}', Authorization: `Bearer ${headerKey}`, Accept: 'text/plain' },
      body: { again: headerKey },
    });
    const failing = http(`${target.url}/status/404`, { headers: { 'X-Api-Key': headerKey } });
    link(start, call);
    const { workflowId, runId, slug } = await publish(stack, author, {}, drawing([start, call]));
    assert.equal(target.requests.at(-1)?.headers.authorization, `Bearer ${headerKey}`);
    link(call, failing);
    await author.api.patch(`/workflows/${workflowId}/`, { body: { data: drawing([start, call, failing]) } });
    const second = (await author.api.run(workflowId, { token: given, note: `see ${given}, ${headerKey}` })).data.id;
    await author.api.pollToEnd(second);
    for (const id of [runId, second]) await markRun(stack, id, 'use_in_marketplace_example');
    const shown = [await list(slug), (await read(slug, runId)).body, (await read(slug, second)).body];
    const text = JSON.stringify(shown);
    for (const secret of [stored, given, headerKey]) {
      assert.ok(!text.includes(secret.slice(0, -3)), text);
      assert.ok(!text.includes(Buffer.from(secret).toString('base64').slice(0, 20)));
    }
    const example = (await read(slug, second)).body;
    assert.deepEqual(example.input_data, { token: '********', note: 'see ********, ********' });
    const nodes = (example.data as { nodes: { id: string; data: { headers?: unknown } }[] }).nodes;
    assert.deepEqual(nodes[1]?.data.headers, {
      'X-Token': '********',
      Authorization: '********',
      Accept: 'text/plain',
    });
    assert.equal(example.result[call.id]?.status, 'succeed');
    assert.equal(example.result[failing.id]?.status, 'failed');
  });

  it('a sealed header is masked also in results that are older than the rule that seals it', async () => {
    const headerKey = canary();
    const start = trigger();
    const call = http(`${target.url}/get`, { headers: { 'X-Auth': `Bearer ${headerKey}` } });
    link(start, call);
    const { runId, slug } = await publish(stack, author, {}, drawing([start, call]));
    await markRun(stack, runId, 'use_in_marketplace_example');
    const old = `UPDATE node_results SET result = $3, result_enc = NULL WHERE run_id = $1 AND node_id = $2`;
    await queryDatabase(stack, old, [runId, call.id, { content: `you sent ${headerKey}` }]);
    for (const example of [(await list(slug))[0]!, (await read(slug, runId)).body]) {
      assert.equal(example.result[call.id]?.result?.content, 'you sent ********');
      assert.ok(!JSON.stringify(example).includes(headerKey));
    }
  });

  it('a long content is cut in the list, never in the middle of a credential, and whole alone', async () => {
    const headerKey = `canary-${'k'.repeat(60)}`;
    // The credential lies across the position at which a list cuts texts.
    const body = `${'x'.repeat(16_384 - 30)}${headerKey}${'y'.repeat(20_000)}`;
    target.on('/long', { body });
    const start = trigger();
    const call = http(`${target.url}/long`, { headers: { 'X-Api-Key': headerKey } });
    link(start, call);
    const { runId, slug } = await publish(stack, author, {}, drawing([start, call]));
    await markRun(stack, runId, 'use_in_marketplace_example');
    const [listed] = await list(slug);
    assert.equal(listed?.result[call.id]?.truncated, true);
    assert.match(listed?.result[call.id]?.result?.content ?? '', /^x{15000,}$/);
    const { result } = (await read(slug, runId)).body;
    assert.deepEqual(
      [result[call.id]?.truncated, result[call.id]?.result?.content],
      [undefined, `${'x'.repeat(16_384 - 30)}********${'y'.repeat(20_000)}`],
    );
  });

  it('a run in progress may be shown, with its results so far', async () => {
    const { workflowId, slug } = await publish(stack, author, {}, chain(1));
    const start = trigger();
    const slow = http(`${target.url}/hold/example`);
    link(start, slow);
    await author.api.patch(`/workflows/${workflowId}/`, { body: { data: drawing([start, slow]) } });
    const { data } = await author.api.run(workflowId);
    await markRun(stack, data.id, 'use_in_marketplace_example');
    const soFar = await eventually(async () => {
      const { status, body } = await read(slug, data.id);
      assert.equal(status, 200);
      return body.result[slow.id] !== undefined && body.result;
    });
    assert.deepEqual([soFar[start.id]?.status, soFar[slow.id]?.status], ['succeed', 'in progress']);
    target.release('/hold/example');
    await author.api.pollToEnd(data.id);
    assert.equal((await read(slug, data.id)).body.result[slow.id]?.status, 'succeed');
  });
});
