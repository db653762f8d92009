import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { head, openRaw, statusesIn, type RawConnection } from '../../support/raw-http.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';

const POST = 'POST /api/v1/projects/ HTTP/1.1';
const JSON_TYPE = 'Content-Type: application/json';

describe('HTTP as bytes', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let apiKey: string;
  let key: string;
  const open: RawConnection[] = [];

  before(async () => {
    stack = await sharedStack();
    ({ apiKey } = await createAccount(stack));
    key = `X-Api-Key: ${apiKey}`;
  });
  afterEach(() => {
    for (const connection of open.splice(0)) connection.close();
  });

  const connect = async (): Promise<RawConnection> => {
    const connection = await openRaw(stack.apiUrl);
    open.push(connection);
    return connection;
  };
  /** Returns everything that the server sends until it closes the connection. */
  const ask = async (...pieces: (string | Buffer)[]): Promise<string> => {
    const connection = await connect();
    connection.send(...pieces);
    return connection.ended();
  };
  const projects = (): Promise<{ total: number }[]> =>
    queryDatabase(stack, 'SELECT count(*)::int AS total FROM projects');

  describe('400: requests that two HTTP parsers could read differently', () => {
    const body = '{"name":"smuggled"}';
    const second = head('GET /healthz HTTP/1.1', 'Host: x');
    const cases: [title: string, request: string][] = [
      ['a length and chunks', head(POST, 'Content-Length: 4', 'Transfer-Encoding: chunked') + `0\r\n\r\n${second}`],
      ['chunks and a length', head(POST, 'Transfer-Encoding: chunked', 'Content-Length: 4') + `0\r\n\r\n${second}`],
      ['two lengths', head(POST, 'Content-Length: 19', 'Content-Length: 3') + body],
      ['the same length twice', head(POST, 'Content-Length: 19', 'Content-Length: 19') + body],
      ['a list of lengths', head(POST, 'Content-Length: 19, 19') + body],
      ['a signed length', head(POST, 'Content-Length: +19') + body],
      ['a negative length', head(POST, 'Content-Length: -1') + body],
      ['a length in hex', head(POST, 'Content-Length: 0x13') + body],
      ['an endless length', head(POST, `Content-Length: ${'9'.repeat(30)}`) + body],
      ['chunks that are not the last coding', head(POST, 'Transfer-Encoding: chunked, identity') + body],
      ['an unknown coding', head(POST, 'Transfer-Encoding: xchunked') + body],
      ['a folded header', `${POST}\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n`],
      ['bare line feeds', `${POST}\nHost: x\nContent-Length: 0\n\n`],
      ['a space before the colon', head(POST, 'Host: x', 'Content-Length : 0')],
      ['a null in a header', head(POST, 'Host: x', 'X-A: b\0c')],
      ['a bare carriage return in a header', head(POST, 'Host: x', 'X-A: b\rX-B: c')],
      ['a header without a name', head(POST, 'Host: x', ': c')],
      ['a chunk size beyond all numbers', `${head(POST, 'Transfer-Encoding: chunked')}${'F'.repeat(20)}\r\n`],
      ['a chunk size that is none', `${head(POST, 'Transfer-Encoding: chunked')}-5\r\nabcde\r\n0\r\n\r\n`],
      ['an unknown method', head('FETCH /healthz HTTP/1.1', 'Host: x')],
      ['an unknown version', head('GET /healthz HTTP/9.9', 'Host: x')],
      ['no host', head('GET /healthz HTTP/1.1')],
      ['something else altogether', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'],
    ];
    for (const [title, request] of cases) {
      it(title, async () => {
        const before = await projects();
        const withKey = request
          .replace('\r\n', `\r\n${key}\r\n${JSON_TYPE}\r\n`)
          .replace(/^(POST.*\r\n)/, '$1Host: x\r\n');
        const answer = await ask(title === 'a folded header' ? request : withKey);
        assert.deepEqual(statusesIn(answer), [400], answer);
        assert.match(answer, /\r\nX-Request-Id: [0-9a-f-]{36}\r\n/i);
        assert.match(answer, /\{"detail":"[^"]+","code":"parse_error"\}/);
        assert.deepEqual(await projects(), before);
      });
    }
  });

  describe('methods, versions and addresses', () => {
    it('TRACE and CONNECT are a 405; no request is echoed and no tunnel dug', async () => {
      for (const line of ['TRACE /healthz HTTP/1.1', 'CONNECT example.com:443 HTTP/1.1']) {
        const answer = await ask(head(line, 'Host: x', 'X-Canary: echoed', 'Connection: close'));
        assert.deepEqual(statusesIn(answer), [405], answer);
        assert.ok(!answer.includes('echoed'));
        assert.match(answer, /"code":"method_not_allowed"/);
      }
    });

    it('HTTP/1.0 needs no Host header, and its connection is closed after the answer', async () => {
      assert.match(await ask(head('GET /healthz HTTP/1.0')), /^HTTP\/1\.1 200 [^]*\{"status":"ok"\}$/);
    });

    it('of a URL in absolute form only the path counts', async () => {
      const answer = await ask(head('GET http://elsewhere.example/healthz HTTP/1.1', 'Host: x', 'Connection: close'));
      assert.deepEqual(statusesIn(answer), [200]);
    });

    it('paths that hold no id are a 404', async () => {
      const ids = ['NaN', '1e3', '0x10', '9007199254740993', '-1', '+1', '1.0', '%201', '1%20', '%EF%BC%92', '%D9%A1'];
      const odd = [
        '%00',
        '1%00',
        '%F0%28',
        '%zz',
        '%ED%A0%80',
        '1%2F2',
        '..',
        '%2e%2e',
        '__proto__',
        'constructor',
        '%0d%0aX-A:b',
      ];
      for (const id of [...ids, ...odd]) {
        const answer = await ask(head(`GET /api/v1/projects/${id}/ HTTP/1.1`, 'Host: x', key, 'Connection: close'));
        assert.deepEqual(statusesIn(answer), [404], `${id}: ${answer}`);
        assert.match(answer, /\{"detail":"Not found\.","code":"not_found"\}$/);
      }
    });

    it('an address of 15 KiB is a 404, one of 17 KiB a 431', async () => {
      for (const [length, status] of [
        [15_000, 404],
        [17_000, 431],
      ] as const) {
        const answer = await ask(head(`GET /${'a/'.repeat(length / 2)} HTTP/1.1`, 'Host: x', 'Connection: close'));
        assert.deepEqual(statusesIn(answer), [status]);
      }
    });
  });

  describe('headers', () => {
    it('an X-Request-Id with unusual characters is not repeated in the answer', async () => {
      for (const value of ['a\tb', 'a\xffb', '"a"', 'a, b', 'ä']) {
        const request = head('GET /healthz HTTP/1.1', 'Host: x', `X-Request-Id: ${value}`, 'Connection: close');
        assert.match(await ask(request), /\r\nX-Request-Id: [0-9a-f-]{36}\r\n/, value);
      }
    });

    it('hostile names and values of query and headers are a 2xx or 4xx', async () => {
      const queries = [
        '__proto__=1',
        '__proto__[a]=1',
        'constructor=1',
        'toString=1',
        '%00=1',
        'page=%00',
        '%',
        '&&&=',
        'page=1&page=x',
        'page=١',
        'page=２',
        'page=1e3',
      ];
      const headers = ['__proto__: 1', 'constructor: 1', 'toString: 1', `${'x'.repeat(8000)}: 1`];
      const keys = ['\xff'.repeat(255), ' ', "'; DROP TABLE runs; --", 'a'.repeat(256)];
      const heads = [
        ...queries.map((query) => head(`GET /api/v1/projects/?${query} HTTP/1.1`, 'Host: x', key, 'Connection: close')),
        ...headers.map((header) => head('GET /api/v1/projects/ HTTP/1.1', 'Host: x', key, header, 'Connection: close')),
        ...keys.map((value) =>
          head(
            'POST /api/v1/workflows/1/run/ HTTP/1.1',
            'Host: x',
            key,
            `Idempotency-Key: ${value}`,
            'Connection: close',
          ),
        ),
        ...keys.map((value) =>
          head('GET /api/v1/projects/ HTTP/1.1', 'Host: x', `X-Api-Key: ${value}`, 'Connection: close'),
        ),
        ...keys.map((value) =>
          head('GET /api/v1/projects/ HTTP/1.1', 'Host: x', `Authorization: Bearer ${value}`, 'Connection: close'),
        ),
      ];
      for (const request of heads) {
        const [status] = statusesIn(await ask(Buffer.from(request, 'utf8')));
        assert.ok(status !== undefined && status >= 200 && status < 500, `${status}: ${request}`);
      }
    });

    it('several hundred headers are fine below 16 KiB, and a 431 above', async () => {
      for (const [count, status] of [
        [500, 200],
        [5000, 431],
      ] as const) {
        const many = Array.from({ length: count }, (_, index) => `X-${index}: ${index}`);
        assert.deepEqual(
          statusesIn(await ask(head('GET /healthz HTTP/1.1', 'Host: x', 'Connection: close', ...many))),
          [status],
        );
      }
    });
  });

  describe('bodies', () => {
    it('a client that expects 100 Continue gets it if it may send the body, and the refusal otherwise', async () => {
      const body = '{"name":"asked for"}';
      const lines = [JSON_TYPE, 'Host: x', 'Expect: 100-continue'];
      const connection = await connect();
      connection.send(head(POST, key, ...lines, `Content-Length: ${body.length}`));
      await eventually(() => connection.received().startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
      connection.send(body);
      await eventually(() => statusesIn(connection.received()).at(-1) === 201);

      const unknown = await ask(head(POST, ...lines, `Content-Length: ${body.length}`));
      assert.deepEqual(statusesIn(unknown), [401]);
      assert.match(unknown, /\r\nConnection: close\r\n/);
      assert.deepEqual(statusesIn(await ask(head(POST, key, ...lines, 'Content-Length: 10485761'))), [413]);
      const other = await ask(head(POST, key, JSON_TYPE, 'Host: x', 'Expect: a-miracle', 'Content-Length: 1'));
      assert.deepEqual(statusesIn(other), [417]);
      assert.match(other, /"code":"expectation_failed"/);
    });

    it('an API key in the trailers behind the chunks does not authenticate', async () => {
      const chunks = `13\r\n{"name":"trailers"}\r\n0\r\n`;
      const lines = [
        POST,
        'Host: x',
        JSON_TYPE,
        'Transfer-Encoding: chunked',
        'Trailer: X-Api-Key',
        'Connection: close',
      ];
      const outside = await ask(head(...lines), `${chunks}${key}\r\n\r\n`);
      assert.deepEqual(statusesIn(outside), [401]);
      assert.deepEqual(statusesIn(await ask(head(...lines, key), `${chunks}X-Trailer: x\r\n\r\n`)), [201]);
    });

    it('requests sent without waiting are answered in their order', async () => {
      const paths = ['/healthz', '/nowhere', '/api/v1/projects/', '/healthz'];
      const requests = paths.map((at) => head(`GET ${at} HTTP/1.1`, 'Host: x'));
      const connection = await connect();
      connection.send(requests.join(''));
      await eventually(() => statusesIn(connection.received()).length === paths.length);
      assert.deepEqual(statusesIn(connection.received()), [200, 404, 401, 200]);
    });
  });

  describe('slow and rude clients', () => {
    it('requests whose bodies do not arrive hold no database connection, even if they outnumber the pool', async () => {
      const slow = await Promise.all(Array.from({ length: 60 }, () => connect()));
      for (const { send } of slow) send(head(POST, 'Host: x', key, JSON_TYPE, 'Content-Length: 1000'), '{"name":');
      const { status } = await fetch(`${stack.apiUrl}/api/v1/projects/`, { headers: { 'x-api-key': apiKey } });
      assert.equal(status, 200);
      await eventually(async () => {
        const held = await queryDatabase(
          stack,
          "SELECT 1 FROM pg_stat_activity WHERE application_name = 'api' AND state LIKE 'idle in transaction%'",
        );
        return held.length === 0;
      });
      assert.deepEqual(slow.map(({ received }) => received()).join(''), '');
    });

    it('a client that hangs up in the middle of a body or an answer leaves no error in the log', async () => {
      const log = path.join(stack.dataDir, 'logs', 'api.log');
      const [before, abortedBefore] = [errorLines(log), abortsIn(log)];
      const account = await createAccount(stack);
      const large = await account.api.createWorkflow(await account.api.createProject(), {
        ...chain(1),
        x: 'x'.repeat(5e6),
      });
      for (let round = 0; round < 10; round += 1) {
        const [sender, reader] = [await connect(), await connect()];
        sender.send(head(POST, 'Host: x', key, JSON_TYPE, 'Content-Length: 1000'), '{"name":');
        sender.socket.resetAndDestroy();
        reader.send(head(`GET /api/v1/workflows/${large}/ HTTP/1.1`, 'Host: x', `X-Api-Key: ${account.apiKey}`));
        await eventually(() => reader.received().length > 0);
        reader.socket.resetAndDestroy();
      }
      await eventually(() => abortsIn(log) >= abortedBefore + 10);
      assert.equal((await fetch(`${stack.apiUrl}/healthz`)).status, 200);
      assert.deepEqual(errorLines(log), before);
    });
  });
});

function abortsIn(log: string): number {
  return readFileSync(log, 'utf8').split('request aborted').length - 1;
}

function errorLines(log: string): string[] {
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => /"level":("?(error|fatal)"?|50|60)\b/.test(line));
}
