// Which headers are sent again after a redirect, and to which targets.
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { createOutgoingClient, type OutgoingClient, type OutgoingRequest } from '../../outgoing/outgoing-client.js';
import { startFakeInternet, type FakeInternet } from '../support/fake-internet.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';

const CREDENTIALS = [
  'authorization',
  'Proxy-Authorization',
  'cookie',
  'x-api-key',
  'x_api_key',
  'apikey',
  'api-key',
  'key',
  'ocp-apim-subscription-key',
  'x-auth-token',
  'token',
  'x_access_token',
  'private-token',
  'x-amz-security-token',
  'x-csrf-token',
  'x-auth',
  'x-authentication',
  'x-client-secret',
  'x-password',
  'x-session-id',
  'x-hub-signature-256',
  'webhook-signature',
  'referer',
];
const OTHERS = ['x-team', 'accept-language', 'idempotency-key', 'user-agent'];

describe('credentials and redirects', () => {
  let client: OutgoingClient;
  let internet: FakeInternet;
  let target: HttpTarget;
  let other: HttpTarget;
  let port: string;

  before(async () => {
    client = createOutgoingClient({ allowPrivateNetwork: true });
    internet = startFakeInternet();
    for (const name of ['here.test', 'www.here.test', 'there.test']) internet.resolve(name, ['127.0.0.1']);
    target = await startHttpTarget();
    other = await startHttpTarget();
    ({ port } = new URL(target.url));
  });
  beforeEach(() => {
    target.requests.length = 0;
    other.requests.length = 0;
  });
  after(async () => {
    internet.close();
    await client.close();
    await Promise.all([target.close(), other.close()]);
  });

  /** Sends a request with every header of both lists to `http://here.test`, whose answer redirects to `location`. */
  async function follow(location: string, status: number, given: Partial<OutgoingRequest> = {}) {
    target.on('/start', { status, headers: { location } });
    const headers = Object.fromEntries([...CREDENTIALS, ...OTHERS].map((name) => [name, `value of ${name}`]));
    const base = { url: new URL(`http://here.test:${port}/start`), method: 'GET', headers, body: undefined };
    return client.send({ ...base, timeoutMs: 5_000, signal: new AbortController().signal, ...given });
  }

  const namesIn = (headers: IncomingHttpHeaders, names: string[]): string[] =>
    names.filter((name) => headers[name.toLowerCase()] !== undefined);

  const elsewhere: [what: string, location: () => string, end: () => HttpTarget][] = [
    ['another host', () => `http://there.test:${port}/end`, () => target],
    ['a host below it', () => `http://www.here.test:${port}/end`, () => target],
    ['another port', () => `http://here.test:${new URL(other.url).port}/end`, () => other],
    ['another host without naming the scheme', () => `//there.test:${port}/end`, () => target],
    ['a user of its own on another host', () => `http://here.test@there.test:${port}/end`, () => target],
  ];
  for (const [what, location, end] of elsewhere) {
    it(`nothing that is named like a credential goes to ${what}, whatever the status`, async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        await follow(location(), status);
        const { headers } = end().requestsTo('/end').at(-1)!;
        assert.deepEqual(namesIn(headers, CREDENTIALS), [], String(status));
        assert.deepEqual(namesIn(headers, OTHERS), OTHERS, String(status));
      }
    });
  }

  it('another scheme is another origin', async () => {
    // The port does not speak TLS: the request fails in the handshake, before a header is sent.
    await assert.rejects(follow(`https://here.test:${port}/end`, 307));
    assert.deepEqual(target.requestsTo('/end'), []);
  });

  it('they stay inside the origin, and do not come back after a detour', async () => {
    await follow('/end', 307);
    assert.deepEqual(namesIn(target.requestsTo('/end').at(-1)!.headers, CREDENTIALS), CREDENTIALS);
    other.on('/detour', { status: 307, headers: { location: `http://here.test:${port}/end` } });
    await follow(`${other.url}/detour`, 307);
    assert.deepEqual(namesIn(target.requestsTo('/end').at(-1)!.headers, CREDENTIALS), []);
  });

  it('a header whose value is a secret is dropped like one whose name says so', async () => {
    await follow(`http://there.test:${port}/end`, 302, { secretHeaders: ['x-team'] });
    const { headers } = target.requestsTo('/end').at(-1)!;
    assert.deepEqual([headers['x-team'], headers['accept-language']], [undefined, 'value of accept-language']);
  });

  it('a user name and password in a URL are sent nowhere, and a redirect names none of where it came from', async () => {
    const url = new URL(`http://user:canary@here.test:${port}/start?query=canary`);
    await follow(`http://user:canary@there.test:${port}/end`, 302, { url, headers: {} });
    for (const { headers, path } of target.requests) {
      assert.doesNotMatch(JSON.stringify(headers), /canary|dXNlcjpjYW5hcnk|here\.test.*query/, path);
      assert.deepEqual([headers.authorization, headers.referer], [undefined, undefined]);
    }
  });

  it('a body is sent again only where the status says so, and never with its length or type where it is not', async () => {
    const sent: Record<number, unknown[]> = {};
    for (const status of [301, 302, 303, 307, 308]) {
      const headers = { 'content-type': 'text/plain', 'content-language': 'en' };
      await follow('/end', status, { method: 'POST', body: 'secret', headers });
      const { method, body, headers: got } = target.requestsTo('/end').at(-1)!;
      sent[status] = [method, body, got['content-type'], got['content-language'], got['content-length']];
    }
    const asGet = ['GET', '', undefined, undefined, undefined];
    const asPost = ['POST', 'secret', 'text/plain', 'en', '6'];
    assert.deepEqual(sent, { 301: asGet, 302: asGet, 303: asGet, 307: asPost, 308: asPost });
    await follow('/end', 303, { method: 'PUT', body: 'secret', headers: {} });
    assert.deepEqual([target.requests.at(-1)!.method, target.requests.at(-1)!.body], ['GET', '']);
  });
});
