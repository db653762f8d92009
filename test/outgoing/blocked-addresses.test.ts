// With ALLOW_PRIVATE_NETWORK=false: addresses that no caller reaches, in every spelling.
import assert from 'node:assert/strict';
import { startFakeInternet, type FakeInternet } from '../support/fake-internet.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { createCallers, type Callers } from './callers.js';
import { ADDRESSES, DISGUISED_URLS, PUBLIC_ADDRESS, UNUSABLE_URLS } from './private-addresses.js';

const toHost = (address: string): string => (address.includes(':') ? `[${address}]` : address);

describe('addresses that are not public', function () {
  this.timeout(120_000);
  const callers: Callers = createCallers({ allowPrivateNetwork: false });
  let internet: FakeInternet;
  let target: HttpTarget;
  let port: string;

  before(async () => {
    internet = startFakeInternet();
    target = await startHttpTarget();
    ({ port } = new URL(target.url));
  });
  beforeEach(() => {
    internet.lookups.length = 0;
    internet.connections.length = 0;
    target.requests.length = 0;
  });
  after(async () => {
    internet.close();
    await target.close();
    await callers.close();
  });

  /** Returns the code and the message of the refusal as the caller sees it. */
  async function refusalOf(asked: Promise<unknown>): Promise<{ code: unknown; message: string }> {
    const error = await asked.then(
      () => assert.fail('it was not refused'),
      (thrown: unknown) => thrown as Error & { code?: unknown },
    );
    return { code: error.code, message: error.message };
  }

  for (const { name, ask } of callers.all) {
    describe(name, () => {
      for (const [range, addresses] of Object.entries(ADDRESSES)) {
        it(`${range} is refused as a host, on any port, and nothing is connected`, async () => {
          for (const address of addresses) {
            assert.equal((await refusalOf(ask(`http://${toHost(address)}/`))).code, 'blocked_address', address);
          }
          const onPort = `https://${toHost(addresses[0]!)}:${port}/x`;
          assert.equal((await refusalOf(ask(onPort))).code, 'blocked_address', onPort);
          assert.deepEqual([internet.lookups, internet.connections, target.requests], [[], [], []]);
        });

        it(`${range} is refused as what a name resolves to, alone and beside a public address`, async () => {
          for (const address of addresses) {
            for (const answer of [[address], [PUBLIC_ADDRESS, address]]) {
              internet.resolve('inside.test', answer);
              assert.equal((await refusalOf(ask(`http://inside.test:${port}/`))).code, 'blocked_address', address);
            }
          }
          assert.deepEqual([internet.connections, target.requests], [[], []]);
        });
      }

      it('no disguise of this machine gets through', async () => {
        for (const url of DISGUISED_URLS) {
          const { code } = await refusalOf(ask(url));
          // MCP rejects a user name in a URL, and checks this first.
          assert.ok(
            code === 'blocked_address' || (name.startsWith('MCP') && code === 'invalid_url'),
            `${url}: ${String(code)}`,
          );
        }
        assert.deepEqual([internet.lookups, internet.connections], [[], []]);
      });

      it('no other scheme, socket or broken host is tried', async () => {
        for (const url of UNUSABLE_URLS) assert.equal((await refusalOf(ask(url))).code, 'invalid_url', url);
        assert.deepEqual([internet.lookups, internet.connections], [[], []]);
      });

      it('a refusal is the same whether the port is open, closed or filtered, and names no address', async () => {
        internet.resolve('open.test', ['127.0.0.1']);
        internet.resolve('closed.test', ['127.0.0.2']);
        internet.resolve('filtered.test', ['10.255.255.1']);
        const urls = ['127.0.0.1', 'open.test', 'closed.test', 'filtered.test', '10.1.2.3'].map(
          (host) => `http://${host}:${host === 'closed.test' ? '4999' : port}/`,
        );
        const refusals = await Promise.all(urls.map((url) => refusalOf(ask(url))));
        for (const refusal of refusals) assert.deepEqual(refusal, refusals[0]);
        assert.doesNotMatch(refusals[0]!.message, /\d|test/);
        assert.deepEqual(internet.connections, []);
      });

      it('the address that was checked is the one that is connected: a name is asked for once a connection', async () => {
        internet.resolve('rebinding.test', [PUBLIC_ADDRESS], ['127.0.0.1']);
        await ask(`http://rebinding.test:${port}/`).catch(() => undefined);
        assert.deepEqual(internet.connections, [PUBLIC_ADDRESS]);
        // A GET may reuse the connection that was checked before; any other request resolves the name again, and is
        // refused.
        const again = await ask(`http://rebinding.test:${port}/again`).then(
          () => 'kept',
          (error: unknown) => (error as { code?: unknown }).code,
        );
        assert.ok(again === 'blocked_address' || (again === 'kept' && name === 'HTTP node, GET'), String(again));
        assert.deepEqual(internet.connections, [PUBLIC_ADDRESS]);
      });

      it('a proxy of the environment is not asked', async () => {
        const saved = { ...process.env };
        const proxies = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];
        for (const variable of proxies) process.env[variable] = target.url;
        Object.assign(process.env, { NODE_USE_ENV_PROXY: '1', NO_PROXY: '', no_proxy: '' });
        const fresh = createCallers({ allowPrivateNetwork: false });
        try {
          const { ask: askFresh } = fresh.all.find((caller) => caller.name === name)!;
          assert.equal((await refusalOf(askFresh('http://10.0.0.1/'))).code, 'blocked_address');
          assert.deepEqual(target.requests, []);
        } finally {
          process.env = saved;
          await fresh.close();
        }
      });
    });
  }

  describe('a redirect', () => {
    const start = (): string => `http://public.test:${port}/start`;

    beforeEach(() => {
      internet.resolve('public.test', [PUBLIC_ADDRESS]);
    });

    const [get, post, webhook] = callers.http;
    for (const status of [301, 302, 303, 307, 308]) {
      it(`with ${status} to an address that is not public is refused, however it is written`, async () => {
        internet.resolve('inside.test', ['192.168.1.1']);
        const hosts = Object.values(ADDRESSES).flatMap((addresses) => `http://${toHost(addresses[0]!)}:${port}/inside`);
        // Headers cannot contain other characters; `http:x` and `http:/x` are relative to the page that contains them.
        const disguised = DISGUISED_URLS.filter((url) => /^https?:[/\\]{2}[\x20-\x7e]+$/.test(url));
        const relative = [`//127.0.0.1:${port}/inside`, `\\\\127.0.0.1:${port}\\inside`, `//inside.test:${port}/`];
        const withPassword = [`http://user:pass@127.0.0.1:${port}/inside`];
        for (const location of [...hosts, ...disguised, ...relative, ...withPassword]) {
          target.on('/start', { status, headers: { location } });
          const { ask } = status === 302 || status === 308 ? get! : post!;
          assert.equal((await refusalOf(ask(start()))).code, 'blocked_address', location);
        }
        assert.ok(internet.connections.every((address) => address === PUBLIC_ADDRESS));
        assert.deepEqual(new Set(target.requests.map(({ path }) => path)), new Set(['/start']));
      });
    }

    it('to another scheme is refused', async () => {
      const schemes = ['file:///etc/passwd', 'gopher://127.0.0.1/', 'data:text/plain,x', 'ftp://127.0.0.1/', 'http://'];
      for (const location of schemes) {
        target.on('/start', { status: 302, headers: { location } });
        assert.equal((await refusalOf(get!.ask(start()))).code, 'invalid_url', location);
      }
    });

    it('is checked at every step: the fifth may lead inside no more than the first', async () => {
      for (let step = 1; step <= 4; step += 1) {
        target.on(`/step-${step}`, {
          status: 302,
          headers: { location: step === 4 ? '//127.0.0.1/' : `/step-${step + 1}` },
        });
      }
      target.on('/start', { status: 302, headers: { location: '/step-1' } });
      assert.equal((await refusalOf(get!.ask(start()))).code, 'blocked_address');
      assert.equal(target.requests.length, 5);
    });

    it('is not followed by a webhook, wherever it leads', async () => {
      target.on('/start', { status: 307, headers: { location: `http://127.0.0.1:${port}/inside` } });
      const answer = (await webhook!.ask(start())) as { status: number };
      assert.equal(answer.status, 307);
      assert.deepEqual(target.requestsTo('/inside'), []);
    });

    for (const { name, ask } of callers.mcp) {
      it(`is not followed out of its origin by ${name}`, async () => {
        for (const location of [
          `http://127.0.0.1:${port}/inside`,
          `//localhost:${port}/inside`,
          'file:///etc/passwd',
        ]) {
          target.on('/start', { status: 307, headers: { location } });
          assert.equal((await refusalOf(ask(start()))).code, 'mcp_protocol', location);
        }
        assert.deepEqual(target.requestsTo('/inside'), []);
        assert.deepEqual(new Set(internet.connections), new Set([PUBLIC_ADDRESS]));
      });
    }

    it('that only Alt-Svc, Refresh, Link or Content-Location names is not followed', async () => {
      const inside = `http://127.0.0.1:${port}/inside`;
      const headers = {
        'alt-svc': `h2="127.0.0.1:${port}"; ma=3600, h3=":${port}"`,
        refresh: `0; url=${inside}`,
        link: `<${inside}>; rel=preload`,
        'content-location': inside,
      };
      for (const status of [200, 201, 300, 304, 305, 306, 401, 407]) {
        target.on('/start', { status, headers: status === 305 ? { ...headers, location: inside } : headers });
        for (const { ask } of callers.http) assert.equal(((await ask(start())) as { status: number }).status, status);
      }
      assert.deepEqual(target.requestsTo('/inside'), []);
      assert.deepEqual(new Set(internet.connections), new Set([PUBLIC_ADDRESS]));
    });
  });
});
