import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import path from 'node:path';
import { createCodecServer } from '../../cli/codec-server/server.js';
import { createPayloadCodec } from '../../config/payload-encryption.js';

const TOKEN = 'codec-token-0123456789';
const ORIGIN = 'https://temporal.example';
const PLAIN = { metadata: { encoding: toBase64('json/plain') }, data: toBase64('"hello"') };

interface Answer {
  status: number;
  headers: Headers;
  body: { payloads?: (typeof PLAIN)[]; detail?: string; code?: string };
}

describe('codec server', () => {
  const errors: unknown[] = [];
  let server: Server;
  let url: string;

  before(async () => {
    const codec = createPayloadCodec([randomBytes(32)]);
    server = createCodecServer({
      codec,
      token: TOKEN,
      allowedOrigin: ORIGIN,
      onError: (error) => errors.push(error),
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  afterEach(() => assert.deepEqual(errors, []));

  async function send(
    step: string,
    body: unknown,
    options: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const response = await fetch(url + step, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...options,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...options.headers },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text || '{}') as Answer['body'] };
  }

  it('decodes what it encoded, and leaves what is not encrypted', async () => {
    const encoded = await send('/encode', { payloads: [PLAIN] });
    assert.equal(encoded.status, 200);
    const [sealed] = encoded.body.payloads!;
    assert.equal(Buffer.from(sealed!.metadata.encoding, 'base64').toString(), 'binary/encrypted');
    const decoded = await send('/decode', { payloads: [sealed, PLAIN] });
    assert.deepEqual(decoded.body, { payloads: [PLAIN, PLAIN] });
    assert.deepEqual((await send('/decode', { payloads: [] })).body, { payloads: [] });
  });

  it('401 for whoever has no token, whatever they ask', async () => {
    for (const authorization of ['', `Bearer ${TOKEN}x`, 'Bearer ', TOKEN, `Basic ${toBase64(`x:${TOKEN}`)}`]) {
      const { status, body } = await send('/decode', '{', { headers: { authorization } });
      assert.equal(status, 401, authorization);
      assert.deepEqual(body, { detail: 'The bearer token is missing or wrong.', code: 'authentication_failed' });
    }
  });

  it('lets the pages of the Temporal UI read its answers, and no others', async () => {
    const asked = await fetch(`${url}/decode`, { method: 'OPTIONS', headers: { origin: ORIGIN } });
    assert.equal(asked.status, 204);
    assert.equal(asked.headers.get('access-control-allow-origin'), ORIGIN);
    assert.match(asked.headers.get('access-control-allow-headers')!, /authorization.*x-namespace/);
    const allowed = await send('/decode', { payloads: [] }, { headers: { origin: ORIGIN } });
    assert.equal(allowed.headers.get('access-control-allow-origin'), ORIGIN);
    for (const origin of ['https://evil.example', `${ORIGIN}.evil.example`, 'null', 'http://temporal.example']) {
      for (const method of ['OPTIONS', 'POST']) {
        const body = method === 'POST' ? '{"payloads":[]}' : null;
        const refused = await fetch(`${url}/decode`, {
          method,
          body,
          headers: { origin, authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        });
        assert.equal(refused.status, 403, origin);
        assert.equal(refused.headers.get('access-control-allow-origin'), null);
      }
    }
  });

  it('says what is wrong with a request, in plain JSON', async () => {
    const sealed = { metadata: { encoding: toBase64('binary/encrypted') }, data: toBase64('x'.repeat(40)) };
    const rows: [status: number, code: string, answer: Promise<Answer>][] = [
      [400, 'invalid_body', send('/decode', '{')],
      [400, 'invalid_body', send('/decode', '')],
      [400, 'invalid_body', send('/decode', [])],
      [400, 'invalid_body', send('/decode', { payloads: [1] })],
      [400, 'invalid_body', send('/decode', { payloads: [{ data: '!' }] })],
      [400, 'invalid_body', send('/decode', '['.repeat(100_000))],
      [400, 'payload_unreadable', send('/decode', { payloads: [sealed] })],
      [404, 'not_found', send('/', {})],
      [405, 'method_not_allowed', send('/decode', {}, { method: 'PUT' })],
      [415, 'unsupported_media_type', send('/decode', '{}', { headers: { 'content-type': 'text/plain' } })],
      [413, 'body_too_large', send('/decode', 'x'.repeat(17 * 1024 * 1024))],
    ];
    for (const [status, code, answer] of rows) {
      const { status: given, body } = await answer;
      assert.deepEqual([given, body.code], [status, code]);
      assert.equal(typeof body.detail, 'string');
    }
  });

  it('does not start without its key or its token, and says which is missing', async function () {
    this.timeout(120_000);
    const key = randomBytes(32).toString('base64');
    const rows: [env: Record<string, string>, message: RegExp][] = [
      [{ CODEC_SERVER_TOKEN: TOKEN }, /^TEMPORAL_PAYLOAD_KEY: must be set/],
      [{ TEMPORAL_PAYLOAD_KEY: key }, /^CODEC_SERVER_TOKEN: must be set/],
      [{ TEMPORAL_PAYLOAD_KEY: key, CODEC_SERVER_TOKEN: 'short' }, /^CODEC_SERVER_TOKEN: must have at least 16/],
      [{ TEMPORAL_PAYLOAD_KEY: 'abc', CODEC_SERVER_TOKEN: TOKEN }, /^TEMPORAL_PAYLOAD_KEY: each key must be 32 bytes/],
    ];
    for (const [env, message] of rows) {
      const entry = path.resolve(import.meta.dirname, '../../dist/cli/codec-server.js');
      const child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      let text = '';
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      const [code] = (await once(child, 'close')) as [number];
      assert.equal(code, 1);
      assert.match(text, message);
      assert.ok(!text.includes(key) && !text.includes(TOKEN));
    }
  });
});

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}
