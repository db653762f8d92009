import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import { createApiClient, type ApiClient, type NodeEntry } from '../../../../harness/client/api-client.js';
import { drawing, http, link, linkInRow, trigger } from '../../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget, type TargetReply } from '../../../../harness/target/http-target.js';
import { sharedStack } from '../../../support/shared-stack.js';

describe('HTTP node', function () {
  this.timeout(120_000);
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    const stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    target = await startHttpTarget();
  });

  after(() => target.close());

  /** Runs trigger -> one HTTP node and returns the node's entry. */
  async function runNode(url: string, data: Record<string, unknown> = {}, input: unknown = {}): Promise<NodeEntry> {
    const [start, node] = [trigger(), http(url, data)];
    link(start, node);
    const run = await api.runToEnd(drawing([start, node]), input);
    assert.equal(run.status, run.nodes[node.id]!.status);
    return run.nodes[node.id]!;
  }

  let paths = 0;
  async function runScripted(replies: TargetReply[], data: Record<string, unknown> = {}) {
    const path = `/scripted/${++paths}`;
    target.on(path, replies);
    const entry = await runNode(`${target.url}${path}`, data);
    return { entry, requests: target.requestsTo(path) };
  }

  it('gives body, status, headers and the parsed JSON', async () => {
    const { entry } = await runScripted([{ status: 201, body: { a: 1 }, headers: { 'x-seen': 'yes' } }]);
    assert.equal(entry.status, 'succeed');
    const { content, status_code, headers, json } = entry.result!;
    assert.equal(content, '{"a":1}');
    assert.equal(status_code, 201);
    assert.equal((headers as Record<string, string>)['x-seen'], 'yes');
    assert.deepEqual(json, { a: 1 });
  });

  it('carries a key of run and node, in visible ASCII whatever the node is called', async () => {
    const keyOf = async (id: string): Promise<string> => {
      const start = trigger();
      const call = http(`${target.url}/named`);
      call.id = call.data.id = id;
      link(start, call);
      const { runId, status, nodes } = await api.runToEnd(drawing([start, call]));
      assert.equal(status, 'succeed', JSON.stringify(nodes));
      return String(target.requestsTo('/named').at(-1)!.headers['idempotency-key']).replace(runId, '<run>');
    };
    assert.equal(await keyOf('a-plain.id_1'), '<run>/a-plain.id_1');
    assert.equal(await keyOf('узел-1'), '<run>/%D1%83%D0%B7%D0%B5%D0%BB-1');
    assert.equal(await keyOf('50 % ü'), '<run>/50%20%25%20%C3%BC');
  });

  it('gives the JSON of the one fenced block of a text', async () => {
    const body = 'The answer:\n\n```json\n{"a": 1}\n```\n';
    const { entry } = await runScripted([{ body }]);
    assert.deepEqual([entry.result!.content, entry.result!['json']], [body, { a: 1 }]);
  });

  it('has no json field for what does not parse', async () => {
    const { entry } = await runScripted([{ body: '{"a":' }]);
    assert.equal('json' in entry.result!, false);
  });

  it('keeps JSON that is nested without end as text', async () => {
    const body = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const { entry, requests } = await runScripted([{ body }]);
    assert.equal(entry.result!.content, body);
    assert.equal('json' in entry.result!, false);
    assert.equal(requests.length, 1);
  });

  it('stores a NUL of the answer as U+FFFD, in text and in JSON', async () => {
    const { entry } = await runScripted([{ body: Buffer.from('{"a":"x\\u0000y","b":"c\\\\u0000"}') }]);
    assert.deepEqual(entry.result!['json'], { a: 'x\uFFFDy', b: 'c\\u0000' });
    const text = await runScripted([{ body: Buffer.from('a\0b') }]);
    assert.equal(text.entry.result!.content, 'a\uFFFDb');
  });

  it('succeeds without a node having to ask for anything: 204, empty body', async () => {
    const { entry } = await runScripted([{ status: 204 }]);
    assert.equal(entry.result!.content, '');
  });

  for (const status of [500, 503, 429, 408]) {
    it(`tries again on ${status} and sends the same Idempotency-Key each time`, async () => {
      const { entry, requests } = await runScripted([{ status }, { body: 'at last' }]);
      assert.equal(entry.result!.content, 'at last');
      assert.equal(requests.length, 2);
      assert.ok(requests[0]!.headers['idempotency-key']);
      assert.equal(requests[0]!.headers['idempotency-key'], requests[1]!.headers['idempotency-key']);
    });
  }

  it('makes four attempts at most', async () => {
    const { entry, requests } = await runScripted([{ status: 500, body: 'down' }]);
    assert.deepEqual(entry.error, { code: 'http_status', message: 'The server answered with status 500: down' });
    assert.equal(requests.length, 4);
  });

  for (const status of [400, 401, 404, 422]) {
    it(`fails at once on ${status}`, async () => {
      const { entry, requests } = await runScripted([{ status }]);
      assert.equal(entry.error!.code, 'http_status');
      assert.equal(requests.length, 1);
    });
  }

  it('obeys Retry-After', async () => {
    const { entry, requests } = await runScripted([{ status: 503, headers: { 'retry-after': '2' } }, {}]);
    assert.equal(entry.status, 'succeed');
    assert.ok(requests[1]!.receivedAt - requests[0]!.receivedAt >= 1_900);
  });

  it('is not attempted again where the server asks for more than an hour', async () => {
    const { entry, requests } = await runScripted([{ status: 503, headers: { 'retry-after': '3601' } }, {}]);
    assert.deepEqual([entry.error!.code, requests.length], ['http_status', 1]);
  });

  it('tries again when the connection is cut', async () => {
    const { entry, requests } = await runScripted([{ reset: true }, { body: 'ok' }]);
    assert.equal(entry.result!.content, 'ok');
    assert.equal(requests.length, 2);
  });

  it('does not repeat a POST whose fate is unknown, or that was answered', async () => {
    for (const first of [{ reset: true }, { status: 500 }]) {
      const { entry, requests } = await runScripted([first, {}], { method: 'POST', body: { a: 1 } });
      assert.equal(entry.status, 'failed');
      assert.equal(requests.length, 1);
    }
  });

  it('repeats a POST that sets retry_unsafe', async () => {
    const { entry, requests } = await runScripted([{ status: 500 }, { reset: true }, { body: 'done' }], {
      method: 'POST',
      settings: { retry_unsafe: true },
    });
    assert.equal(entry.result!.content, 'done');
    assert.equal(requests.length, 3);
  });

  it('repeats a POST that never reached the other side', async () => {
    const gone = await startHttpTarget();
    await gone.close();
    const startedAt = Date.now();
    const entry = await runNode(`${gone.url}/gone`, { method: 'POST' });
    assert.equal(entry.error!.code, 'network_error');
    const host = new URL(gone.url).host;
    assert.equal(entry.error!.message, `The request to ${host} failed: ECONNREFUSED.`);
    assert.ok(Date.now() - startedAt > 1_000, 'there were pauses between the attempts');
  });

  it('does not repeat a POST whose redirect leads to where nothing answers', async () => {
    const gone = await startHttpTarget();
    await gone.close();
    const { entry, requests } = await runScripted([{ status: 303, headers: { location: `${gone.url}/made` } }], {
      method: 'POST',
      body: { a: 1 },
    });
    assert.match(entry.error!.message, /ECONNREFUSED/);
    assert.equal(requests.length, 1);
  });

  it('makes any status a success with fail_on_status false', async () => {
    const { entry, requests } = await runScripted([{ status: 503, body: 'no' }], {
      settings: { fail_on_status: false },
    });
    assert.equal(entry.result!['status_code'], 503);
    assert.equal(requests.length, 1);
  });

  it('takes a timeout of any fraction of a second', async () => {
    // 1.1 * 1000 is no integer in floating point.
    for (const timeout of [1.1, 13.387842731055335]) {
      const { entry } = await runScripted([{ body: 'ok' }], { settings: { timeout } });
      assert.equal(entry.result!.content, 'ok');
    }
  });

  it('ends an attempt after its timeout', async () => {
    const { entry, requests } = await runScripted([{ delayMs: 120_000 }], { method: 'POST', settings: { timeout: 3 } });
    assert.equal(entry.error!.code, 'timeout');
    assert.equal(requests.length, 1);
  });

  it('follows a redirect and fails a loop', async () => {
    const entry = await runNode(`${target.url}/redirect?to=/followed`);
    assert.equal((entry.result!['json'] as { path: string }).path, '/followed');
    const loop = await runScripted([{ status: 302, headers: { location: `/scripted/${paths + 1}` } }]);
    assert.equal(loop.entry.error!.code, 'too_many_redirects');
    assert.equal(loop.requests.length, 6);
  });

  it('fails with response_too_large above 10 MiB', async () => {
    const entry = await runNode(`${target.url}/bytes/${10 * 1024 * 1024 + 1}`);
    assert.equal(entry.error!.code, 'response_too_large');
  });

  it('refuses URLs, methods and headers that only become wrong when variables are filled in', async () => {
    const url = await runNode('{{ input.url }}', {}, { url: 'file:///etc/passwd' });
    assert.equal(url.error!.code, 'invalid_url');
    for (const user of ['user:p%40ss', 'user', ':p%40ss']) {
      const address = target.url.replace('://', `://${user}@`);
      const named = await runNode('{{ input.url }}/user', {}, { url: address });
      assert.equal(named.error!.code, 'invalid_url');
      assert.match(named.error!.message, /user name or password.* connection/);
    }
    assert.equal(target.requestsTo('/user').length, 0);
    const nothing = await runNode('{{ input.nothing }}');
    assert.equal(nothing.error!.code, 'invalid_url');
    const method = await runNode(`${target.url}/m`, { method: '{{ input.m }}' }, { m: 'TRACE' });
    assert.equal(method.error!.code, 'invalid_method');
    const header = await runNode(`${target.url}/h`, { headers: { 'x-a': '{{ input.h }}' } }, { h: 'a\r\nx-b: c' });
    assert.equal(header.error!.code, 'invalid_value');
    assert.equal(target.requestsTo('/h').length, 0);
  });

  it('fails clearly on headers that the connection sets, in any case and before anything is sent', async () => {
    const names = ['Host', 'content-length', 'Transfer-Encoding', 'CONNECTION', 'expect', 'Upgrade', 'te', 'Trailer'];
    for (const name of [...names, 'Keep-Alive', 'Proxy-Connection', 'HTTP2-Settings']) {
      for (const method of ['GET', 'POST']) {
        const entry = await runNode(`${target.url}/ours`, { method, headers: { [name]: '{{ input.v }}' } }, { v: '1' });
        const message = `Header "${name}" is set by the connection and cannot be given.`;
        assert.deepEqual(entry.error, { code: 'invalid_header', message });
      }
    }
    for (const value of ['a\r\nx-b: c', 'a\nb', 'a\rb', 'a\u0000b', 'a\u2028b', '\u560a\u560dx']) {
      const body = { headers: { 'x-a': '{{ input.v }}' } };
      const entry = await runNode(`${target.url}/ours`, body, { v: value.replace('\0', '\u0001') });
      const code = /[\r\n]/.test(value) ? 'invalid_value' : 'invalid_header';
      assert.equal(entry.error!.code, code, JSON.stringify(value));
    }
    assert.deepEqual(target.requestsTo('/ours'), []);
  });

  it('names the host that it could not reach, and no secret of its name', async () => {
    const start = trigger([
      { id: 'part', is_secret: true },
      { id: 'mixed', is_secret: true },
    ]);
    const settings = { on_error: 'continue' };
    const [lower, mixed] = ['part', 'mixed'].map((name) => http(`http://{{ input.${name} }}.invalid:81/x`, settings));
    const nodes = linkInRow([start, lower!, mixed!]);
    const run = await api.runToEnd(drawing(nodes), { part: 'canary-4711', mixed: 'Canary-4712' });
    const messages = [lower!, mixed!].map(({ id }) => run.nodes[id]!.error!.message.replace(/[A-Z_]{3,}/, 'CODE'));
    assert.deepEqual(messages, [
      'The request to ********.invalid:81 failed: CODE.',
      'The request to ********:81 failed: CODE.',
    ]);
  });

  it('gives texts in the encoding that they have, cookies as a list, and nothing for what has no body', async () => {
    const gbk = '\xd0\xd5\xc3\xfb';
    const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
    const answers: [name: string, reply: TargetReply, content: string][] = [
      ['latin1', { headers: { 'content-type': 'text/plain; charset=iso-8859-1' }, body: bytes('5 \x80') }, '5 €'],
      [
        'meta',
        { headers: { 'content-type': 'text/html' }, body: bytes(`<meta charset=gbk>${gbk}`) },
        '<meta charset=gbk>姓名',
      ],
      ['broken', { headers: { 'content-type': 'text/plain; charset=utf-8' }, body: bytes('M\xfcller') }, 'M\ufffdller'],
      [
        'json',
        { headers: { 'content-type': 'application/json; charset=gbk' }, body: bytes(`{"a":"${gbk}"}`) },
        '{"a":"姓名"}',
      ],
      ['none', { status: 204, headers: { 'content-encoding': 'gzip' } }, ''],
      ['raw', { headers: { 'content-encoding': 'deflate' }, body: deflateRawSync('raw') }, 'raw'],
      ['cookies', { headers: { 'set-cookie': ['a=1; Expires=Thu, 01 Jan 2037', 'b=2'] }, body: 'c' }, 'c'],
    ];
    const nodes = answers.map(([name, reply]) => {
      target.on(`/odd/${name}`, reply);
      return http(`${target.url}/odd/${name}`, { headers: { 'x-token': '{{ input.token }}' } });
    });
    const run = await api.runToEnd(drawing(linkInRow([trigger(), ...nodes])), { token: ' abc\r\n' });
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    const results = nodes.map(({ id }) => run.nodes[id]!.result!);
    assert.deepEqual(
      results.map(({ content }) => content),
      answers.map(([, , content]) => content),
    );
    assert.deepEqual(results[3]!['json'], { a: '姓名' });
    assert.deepEqual(
      results.map((result) => result['set_cookie']).filter((cookies) => cookies !== undefined),
      [['a=1; Expires=Thu, 01 Jan 2037', 'b=2']],
    );
    const { headers } = results.at(-1) as unknown as { headers: Record<string, string> };
    assert.equal(headers['set-cookie'], 'a=1; Expires=Thu, 01 Jan 2037, b=2');
    assert.equal(target.requestsTo('/odd/raw')[0]!.headers['x-token'], 'abc');
  });

  it('drops a header that holds a secret on a redirect to another origin, whatever its name', async () => {
    const other = await startHttpTarget();
    try {
      target.on('/leads-away', { status: 307, headers: { location: `${other.url}/end` } });
      const headers = { 'x-team': 'team {{ input.pin }}', 'x-plain': 'stays' };
      const [start, node] = [trigger([{ id: 'pin', is_secret: true }]), http(`${target.url}/leads-away`, { headers })];
      link(start, node);
      const run = await api.runToEnd(drawing([start, node]), { pin: 'canary-4711' });
      assert.equal(run.status, 'succeed');
      assert.equal(target.requestsTo('/leads-away')[0]!.headers['x-team'], 'team canary-4711');
      const [arrived] = other.requestsTo('/end');
      assert.deepEqual([arrived!.headers['x-team'], arrived!.headers['x-plain']], [undefined, 'stays']);
    } finally {
      await other.close();
    }
  });

  it('sends methods, bodies and forms as the node says', async () => {
    for (const method of ['put', 'PATCH', 'DELETE']) {
      const entry = await runNode(`${target.url}/echo`, { method, body: { n: '{{ input.n }}' } }, { n: 5 });
      const echoed = entry.result!['json'] as { method: string; body: string };
      assert.equal(echoed.method, method.toUpperCase());
      assert.equal(echoed.body, '{"n":5}');
    }
  });
});
