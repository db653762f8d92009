import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import OpenAI from 'openai';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { readSecrets } from '../../../cli/embedded/secrets-file.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import type { RawScript } from '../../support/raw-upstream.js';
import { createAccount, giveRole } from '../accounts.js';
import { chatBody, chatError, completionBytes, startChatProxy, type ChatProxy } from '../chat-proxy.js';

const MIB = 1024 * 1024;
const MODELS = ['plain', 'tools', 'verbatim', 'headers', 'gzip', 'keys', 'big', 'money'];

const json =
  (bytes: Buffer, headers: Record<string, string> = {}): RawScript =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(bytes);

const hash = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('the chat-completion proxy', function () {
  this.timeout(120_000);
  let proxy: ChatProxy;

  before(async () => {
    proxy = await startChatProxy(MODELS);
  });
  after(() => proxy.stop());

  const lastTo = (model: string) => proxy.upstream.requestsFor(model).at(-1)!;

  const attachKey = async (projectId: number, key: string): Promise<void> => {
    const secrets = readSecrets(proxy.stack.dataDir);
    const box = createSecretBox([Buffer.from(secrets!.SECRETS_KEY, 'base64')]);
    const text =
      'INSERT INTO provider_keys (project_id, provider, name, key_enc, masked_key) VALUES ($1, $2, $3, $4, $5)';
    await queryDatabase(proxy.stack, text, [
      projectId,
      'raw',
      'own',
      box.seal(key, 'provider-key', projectId, 'raw'),
      '****',
    ]);
  };

  describe('200', () => {
    it('the official client needs only the base URL and the key, and gets the bytes of the provider', async () => {
      const bytes = completionBytes('plain');
      proxy.upstream.on('plain', json(bytes));
      const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: proxy.account.apiKey });
      const asked = { model: 'plain', messages: [{ role: 'user' as const, content: 'hi' }] };
      const completion = await client.chat.completions.create(asked);
      assert.equal(completion.choices[0]?.message.content, 'Café ☕');
      assert.equal(completion.usage?.total_tokens, 3);
      const raw = await client.chat.completions.create(asked).asResponse();
      assert.equal(raw.status, 200);
      assert.deepEqual(Buffer.from(await raw.arrayBuffer()), bytes);
      assert.equal(lastTo('plain').url, '/v1/chat/completions');
    });

    it('tool calls and all other parameters are forwarded both ways', async () => {
      const call = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a": 1,"b":2}' } };
      const message = { role: 'assistant', content: null, tool_calls: [call] };
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
      proxy.upstream.on('tools', json(Buffer.from(JSON.stringify({ id: 'c', object: 'chat.completion', choices }))));
      const { choices: answered } = await proxy.openai.chat.completions.create({
        model: 'tools',
        messages: [{ role: 'user', content: 'add' }],
        tools: [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }],
        tool_choice: 'required',
        seed: 7,
      });
      assert.deepEqual(answered[0]?.message.tool_calls, [call]);
      const sent = JSON.parse(lastTo('tools').body.toString('utf8')) as Record<string, unknown>;
      assert.deepEqual([sent['tool_choice'], sent['seed']], ['required', 7]);
    });

    it('the provider gets the same bytes, with escapes and keys that a serializer would change', async () => {
      proxy.upstream.on('verbatim', json(completionBytes('verbatim')));
      const bodies = [
        '{"messages" : [ {"role":"user","content":"\\u0000 \\ud800 \\u00e9"} ],\n\t"model":"verbatim","temperature":1.0}',
        '{"model":"verbatim","messages":[],"__proto__":{"a":1},"big":12345678901234567890,"model":"verbatim"}  ',
        '\ufeff{"model":"verbatim","messages":[1,null,"x"],"stream":"maybe"}',
      ];
      for (const body of bodies) {
        assert.equal((await proxy.send(body)).status, 200, body);
        assert.deepEqual(lastTo('verbatim').body, Buffer.from(body));
      }
    });

    it('the path works with and without its trailing slash', async () => {
      proxy.upstream.on('verbatim', json(completionBytes('verbatim')));
      for (const path of ['/v1/chat/completions', '/v1/chat/completions/']) {
        assert.equal((await proxy.send(chatBody('verbatim'), { path })).status, 200);
      }
    });

    it('a compressed answer is forwarded unchanged', async () => {
      const bytes = completionBytes('gzip');
      for (const [encoding, compress, decompress] of [
        ['gzip', gzipSync, gunzipSync],
        ['br', brotliCompressSync, brotliDecompressSync],
      ] as const) {
        const compressed = compress(bytes);
        proxy.upstream.on('gzip', json(compressed, { 'content-encoding': encoding }));
        const answer = await proxy.send(chatBody('gzip'), { headers: { 'accept-encoding': encoding } });
        assert.deepEqual(answer.body, compressed);
        assert.deepEqual(decompress(answer.body), bytes);
        assert.equal(answer.headers['content-encoding'], encoding);
        assert.equal(lastTo('gzip').headers['accept-encoding'], encoding);
      }
      const completion = await proxy.openai.chat.completions.create({ model: 'gzip', messages: [] });
      assert.equal(completion.id, 'chatcmpl-1');
    });
  });

  describe('headers', () => {
    it('safe ones are forwarded both ways; credentials, cookies, hop-by-hop and account headers are not', async () => {
      proxy.upstream.on(
        'headers',
        json(completionBytes('headers'), {
          'retry-after': '3',
          'openai-processing-ms': '42',
          'x-ratelimit-remaining-tokens': '99',
          'set-cookie': 'session=provider',
          'openai-organization': 'org-platform',
          'x-request-id': 'the-provider`s',
          'keep-alive': 'timeout=99',
          'alt-svc': 'h3=":443"',
          'access-control-allow-origin': '*',
          'x-internal-host': 'inner-7',
        }),
      );
      const answer = await proxy.send(chatBody('headers'), {
        headers: {
          accept: 'application/json',
          'user-agent': 'my-agent/1',
          'x-stainless-lang': 'js',
          'openai-beta': 'x=1',
          cookie: 'session=mine',
          'x-api-key': proxy.account.apiKey,
          'openai-organization': 'org-mine',
          'idempotency-key': 'mine',
          'x-forwarded-for': '10.1.2.3',
          'proxy-authorization': 'Basic mine',
          'x-request-id': 'mine-123',
        },
      });
      const sent = lastTo('headers').headers;
      assert.deepEqual(Object.keys(sent).toSorted(), [
        'accept',
        'authorization',
        'connection',
        'content-length',
        'content-type',
        'host',
        'openai-beta',
        'user-agent',
        'x-stainless-lang',
      ]);
      assert.equal(sent.authorization, `Bearer ${proxy.upstream.platformKey}`);
      assert.equal(sent['user-agent'], 'my-agent/1');
      assert.ok(!JSON.stringify(sent).includes(proxy.account.apiKey));
      const got = answer.headers;
      assert.deepEqual(
        [got['retry-after'], got['openai-processing-ms'], got['x-ratelimit-remaining-tokens'], got['x-request-id']],
        ['3', '42', '99', 'mine-123'],
      );
      for (const name of ['set-cookie', 'openai-organization', 'alt-svc', 'access-control-allow-origin']) {
        assert.equal(got[name], undefined, name);
      }
      assert.equal(got['x-internal-host'], undefined);
      assert.notEqual(got['keep-alive'], 'timeout=99');
    });
  });

  it('of the accepted encodings only those are forwarded in which the usage can be read', async () => {
    proxy.upstream.on('headers', json(completionBytes('headers')));
    for (const [accepted, passed] of [
      ['gzip, deflate, br, zstd', 'gzip, deflate, br'],
      ['zstd;q=1.0, BR ;q=0.5, *;q=0.1', 'BR ;q=0.5'],
      ['zstd', 'identity'],
      ['identity', 'identity'],
    ] as const) {
      assert.equal((await proxy.send(chatBody('headers'), { headers: { 'accept-encoding': accepted } })).status, 200);
      assert.equal(lastTo('headers').headers['accept-encoding'], passed, accepted);
    }
  });

  describe('keys', () => {
    it('the provider key of the project in X-Project-Id is used instead of the key of the platform', async () => {
      proxy.upstream.on('keys', json(completionBytes('keys')));
      const [own, without] = [await proxy.account.api.createProject(), await proxy.account.api.createProject()];
      await attachKey(own, 'sk-project-own');
      const keyFor = async (headers: Record<string, string>): Promise<string | undefined> => {
        assert.equal((await proxy.send(chatBody('keys'), { headers })).status, 200);
        return lastTo('keys').headers.authorization;
      };
      assert.equal(await keyFor({ 'x-project-id': String(own) }), 'Bearer sk-project-own');
      assert.equal(await keyFor({ 'x-project-id': String(without) }), `Bearer ${proxy.upstream.platformKey}`);
      assert.equal(await keyFor({}), `Bearer ${proxy.upstream.platformKey}`);
      assert.equal(lastTo('keys').headers['x-project-id'], undefined);
    });

    it('unknown projects, those of others and those of viewers are a 403, an invalid id is a 400', async () => {
      const owner = await createAccount(proxy.stack);
      const foreign = await owner.api.createProject();
      const ask = async (id: string): Promise<[number, string | null]> => {
        const answer = await proxy.send(chatBody('keys'), { headers: { 'x-project-id': id } });
        return [answer.status, chatError(answer).param];
      };
      const asked = proxy.upstream.requestsFor('keys').length;
      assert.deepEqual(await ask(String(foreign)), [403, 'x-project-id']);
      assert.deepEqual(await ask('2147483647'), [403, 'x-project-id']);
      await giveRole(proxy.stack, proxy.account, foreign, 'viewer');
      assert.deepEqual(await ask(String(foreign)), [403, null]);
      for (const id of ['x', '-1', '99999999999', '2147483648']) assert.deepEqual(await ask(id), [400, 'x-project-id']);
      assert.equal(proxy.upstream.requestsFor('keys').length, asked);
    });
  });

  describe('limits', () => {
    it('a body of 20 MiB is forwarded, a larger one is a 413, with a Content-Length or chunked', async () => {
      proxy.upstream.on('big', json(completionBytes('big')));
      const frame = chatBody('big', { pad: '' });
      const body = frame.replace('"pad":""', `"pad":"${'x'.repeat(20 * MIB - frame.length)}"`);
      assert.equal(Buffer.byteLength(body), 20 * MIB);
      assert.equal((await proxy.send(body)).status, 200);
      assert.equal(hash(lastTo('big').body), hash(body));
      const declared = await proxy.send(`${body} `);
      assert.deepEqual([declared.status, chatError(declared).type], [413, 'invalid_request_error']);
      const chunked = await fetch(`${proxy.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${proxy.account.apiKey}`, 'content-type': 'application/json' },
        body: new Blob([body, ' ']).stream(),
        duplex: 'half',
      });
      assert.equal(chunked.status, 413);
      assert.ok('error' in ((await chunked.json()) as object));
    });

    it('an answer of 20 MiB comes back whole', async () => {
      const bytes = completionBytes('big', 'y'.repeat(20 * MIB));
      proxy.upstream.on('big', json(bytes));
      const answer = await proxy.send(chatBody('big'));
      assert.deepEqual([answer.status, answer.body.equals(bytes)], [200, true]);
    });
  });

  it('a call without a project is a transaction of no project, and is logged without its contents', async () => {
    proxy.upstream.on('money', json(completionBytes('money', 'canary-answer')));
    const count =
      'SELECT project_id, run_id, operation FROM billing_transactions WHERE user_id = $1 AND description = $2';
    const { userId } = proxy.account;
    const body = JSON.stringify({ model: 'money', messages: [{ role: 'user', content: 'canary-question' }] });
    assert.equal((await proxy.send(body)).status, 200);
    assert.deepEqual(await queryDatabase(proxy.stack, count, [userId, 'money']), [
      { project_id: null, run_id: null, operation: 'chat' },
    ]);
    const line = await eventually(() => {
      const lines = proxy.process.output().split('\n');
      return lines.find((text) => text.includes('"chat completion"') && text.includes('"money"'));
    });
    assert.match(line, /"upstream_status":200.*"duration_ms":\d+/);
    assert.doesNotMatch(proxy.process.output(), /canary/);
    assert.ok(!proxy.process.output().includes(proxy.account.apiKey));
  });
});
