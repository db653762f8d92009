import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { createApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, removeKey, revokeAccess } from '../accounts.js';
import { NOT_FOUND } from '../bodies.js';

interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

describe('errors and the envelope of HTTP', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let apiKey: string;

  before(async () => {
    stack = await sharedStack();
    ({ apiKey } = await createAccount(stack));
  });

  const send = async (method: string, path: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = { 'x-api-key': apiKey, ...(init.headers as Record<string, string> | undefined) };
    const response = await fetch(`${stack.apiUrl}${path}`, { ...init, method, headers });
    const body = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: body === '' ? '' : (JSON.parse(body) as unknown),
    };
  };
  const json = { 'content-type': 'application/json' };

  describe('request ids', () => {
    it("every answer carries one: the caller's when it is sane, else one of ours", async () => {
      for (const given of ['abc-123', '4bf92f3577b34da6a3ce929d0e0e4736', 'a:b/c.d_e=f+g']) {
        const { headers } = await send('GET', '/api/v1/projects/', { headers: { 'x-request-id': given } });
        assert.equal(headers.get('x-request-id'), given);
      }
      for (const given of ['two words', '"quoted"', '<script>', 'x'.repeat(129), '']) {
        const { headers } = await send('GET', '/nowhere', { headers: { 'x-request-id': given } });
        assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/, given);
      }
    });
  });

  describe('401 and 403', () => {
    it("the header's name may be written in any case", async () => {
      for (const name of ['X-Api-Key', 'X-API-Key', 'x-api-key']) {
        const response = await fetch(`${stack.apiUrl}/api/v1/projects/`, { headers: { [name]: apiKey } });
        assert.equal(response.status, 200, name);
      }
    });

    it('a deleted key and a withdrawn permission count at once', async () => {
      const [deleted, revoked] = [await createAccount(stack), await createAccount(stack)];
      await removeKey(stack, deleted);
      const gone = await deleted.api.get('/projects/');
      assert.deepEqual([gone.status, gone.body], [401, { detail: 'Invalid API key.', code: 'authentication_failed' }]);
      await revokeAccess(stack, revoked);
      const refused = await revoked.api.get<{ code: string }>('/projects/');
      assert.deepEqual([refused.status, refused.body.code], [403, 'permission_denied']);
    });

    it('keys are stored as hashes only', async () => {
      const rows = await queryDatabase<object>(stack, 'SELECT * FROM api_keys');
      assert.ok(!JSON.stringify(rows).includes(apiKey));
    });

    it('a stranger learns nothing about a body or a path before it is known', async () => {
      const project = await createApiClient(stack.apiUrl, apiKey).createProject();
      const answers = new Set<string>();
      const broken = { method: 'POST', body: '{broken' };
      const asked: [path: string, init?: RequestInit][] = [
        ['projects/', broken],
        [`projects/${project}/`],
        ['projects/2147483647/'],
        ['projects/none/'],
        ['workflows/none/run/', broken],
      ];
      for (const [path, init] of asked) {
        const response = await fetch(`${stack.apiUrl}/api/v1/${path}`, init);
        assert.equal(response.status, 401, path);
        answers.add(await response.text());
      }
      assert.equal(answers.size, 1, [...answers].join());
    });
  });

  describe('404', () => {
    it('an unknown path is a JSON 404, odd ones included', async () => {
      const paths = [
        '/nothing',
        '/api',
        '/api/v1/',
        '/api/v1/nothing/',
        '/API/V1/projects/',
        '/api/v1/projects//',
        '/%zz',
        '//x',
      ];
      for (const path of paths) {
        const { status, body } = await send('GET', path);
        assert.deepEqual([status, body], [404, NOT_FOUND], path);
      }
    });
  });

  describe('405, HEAD and OPTIONS', () => {
    it('a method that the path does not have is a 405 that names those it has', async () => {
      const cases: [method: string, path: string, allow: string][] = [
        ['PUT', '/api/v1/projects/', 'GET, HEAD, OPTIONS, POST'],
        ['POST', '/api/v1/projects/1/', 'DELETE, GET, HEAD, OPTIONS, PATCH'],
        ['GET', '/api/v1/workflows/1/run/', 'OPTIONS, POST'],
        ['PROPFIND', '/api/v1/projects', 'GET, HEAD, OPTIONS, POST'],
        ['PATCH', '/api/v1/workflows/get_nodes/', 'GET, HEAD, OPTIONS'],
        ['DELETE', '/api/v1/workflows/workflow_result', 'GET, HEAD, OPTIONS'],
      ];
      for (const [method, path, allow] of cases) {
        const { status, headers, body } = await send(method, path);
        assert.deepEqual([status, headers.get('allow')], [405, allow]);
        assert.deepEqual(body, { detail: `Method "${method}" not allowed.`, code: 'method_not_allowed' });
      }
    });

    it('HEAD answers like GET without a body, OPTIONS with the methods', async () => {
      const head = await send('HEAD', '/api/v1/projects/');
      assert.deepEqual([head.status, head.body], [200, '']);
      assert.ok(Number(head.headers.get('content-length')) > 0);
      const options = await send('OPTIONS', '/api/v1/projects/');
      assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS, POST']);
      assert.equal((await send('OPTIONS', '/nowhere')).status, 404);
    });
  });

  describe('400 and 415', () => {
    it('malformed JSON is refused without quoting it', async () => {
      for (const body of ['{"name": secret-stuff}', '{', 'null null', '{"a":1}}', "{'a':1}", 'undefined', '\ufeff{']) {
        const { status, body: answer } = await send('POST', '/api/v1/projects/', { body, headers: json });
        const { detail, code } = answer as { detail: string; code: string };
        assert.deepEqual([status, code], [400, 'parse_error'], body);
        assert.match(detail, /^JSON parse error - the body is not valid JSON( at position \d+)?\.$/);
      }
    });

    it('a byte order mark and a charset of UTF-8 are fine', async () => {
      const body = '\ufeff{"name":"bom"}';
      const headers = { 'content-type': 'application/json; charset=UTF-8' };
      assert.equal((await send('POST', '/api/v1/projects/', { body, headers })).status, 201);
    });

    it('another media type, charset or encoding is a 415', async () => {
      const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', ''];
      for (const type of types) {
        const { status } = await send('POST', '/api/v1/projects/', {
          body: '{"name":"x"}',
          headers: { 'content-type': type },
        });
        assert.equal(status, 415, type);
      }
      const headers = { ...json, 'content-encoding': 'gzip' };
      assert.equal((await send('POST', '/api/v1/projects/', { body: 'x', headers })).status, 415);
    });

    it('an address and headers of more than 16 KiB are a 431', async () => {
      const response = await fetch(`${stack.apiUrl}/api/v1/projects/?name__icontains=${'x'.repeat(20_000)}`);
      assert.equal(response.status, 431);
      assert.equal(((await response.json()) as { code: string }).code, 'headers_too_large');
      assert.ok(response.headers.get('x-request-id'));
    });

    it('a body that breaks off is no crash', async () => {
      const { hostname, port } = new URL(stack.apiUrl);
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      const lines = ['POST /api/v1/projects/ HTTP/1.1', 'Host: x', `X-Api-Key: ${apiKey}`, 'Content-Length: 100'];
      socket.end(`${[...lines, 'Content-Type: application/json'].join('\r\n')}\r\n\r\n{"name":`);
      await text(socket).catch(() => '');
      assert.equal((await send('GET', '/healthz')).status, 200);
    });

    it('a negative Content-Length is a 400', async () => {
      const { hostname, port } = new URL(stack.apiUrl);
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.end('POST /api/v1/projects/ HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n');
      assert.match(await text(socket), /^HTTP\/1\.1 400 /);
    });
  });
});
