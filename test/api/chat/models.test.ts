import assert from 'node:assert/strict';
import OpenAI, { AuthenticationError, PermissionDeniedError, RateLimitError } from 'openai';
import { createAccount, revokeAccess } from '../accounts.js';
import { startChatProxy, type ChatProxy } from '../chat-proxy.js';

describe('the list of models', function () {
  this.timeout(120_000);
  let proxy: ChatProxy;

  before(async () => {
    proxy = await startChatProxy(['gpt-one', 'vendor/two', '*']);
  });
  after(() => proxy.stop());

  const clientOf = (apiKey: string): OpenAI => new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 });

  it('has every listed model for the official client, and no entry for `*`', async () => {
    const { data, object } = (await proxy.openai.models.list()) as unknown as { data: OpenAI.Model[]; object: string };
    assert.equal(object, 'list');
    assert.deepEqual(data, [
      { id: 'gpt-one', object: 'model', created: 0, owned_by: 'raw' },
      { id: 'vendor/two', object: 'model', created: 0, owned_by: 'raw' },
      { id: 'down', object: 'model', created: 0, owned_by: 'down' },
    ]);
    const seen: string[] = [];
    for await (const { id } of proxy.openai.models.list()) seen.push(id);
    assert.deepEqual(seen, ['gpt-one', 'vendor/two', 'down']);
  });

  it('has prices at /api/v1/models/, and no entry for `*`', async () => {
    const headers = { 'x-api-key': proxy.account.apiKey };
    const answer = await fetch(new URL('/api/v1/models/', proxy.baseUrl), { headers });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    const prices = { input_price_per_million: '1', output_price_per_million: '2' };
    const [one, two] = JSON.parse(text) as object[];
    assert.deepEqual(
      [one, two],
      [
        { id: 'gpt-one', provider: 'raw', ...prices },
        { id: 'vendor/two', provider: 'raw', ...prices },
      ],
    );
    assert.ok(!text.includes('*') && !text.includes(proxy.upstream.platformKey) && !text.includes('http'));
  });

  it('has errors in the shape of chat completions', async () => {
    await assert.rejects(clientOf('wrong').models.list(), (error: AuthenticationError) => {
      assert.ok(error instanceof AuthenticationError);
      return error.code === 'invalid_api_key' && error.type === 'invalid_request_error';
    });
    const revoked = await createAccount(proxy.stack);
    await revokeAccess(proxy.stack, revoked);
    await assert.rejects(clientOf(revoked.apiKey).models.list(), PermissionDeniedError);
    const limited = await createAccount(proxy.stack, 1);
    await clientOf(limited.apiKey).models.list();
    await assert.rejects(clientOf(limited.apiKey).models.list(), RateLimitError);
    const post = await fetch(`${proxy.baseUrl}/models`, { method: 'POST' });
    assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
    assert.ok('error' in ((await post.json()) as object));
  });

  it('contains no key and no address of a provider', async () => {
    const headers = { authorization: `Bearer ${proxy.account.apiKey}` };
    const text = await (await fetch(`${proxy.baseUrl}/models/`, { headers })).text();
    assert.ok(!text.includes(proxy.upstream.platformKey) && !text.includes('http'));
  });
});
