// BLOCKED_ADDRESSES, in a network where private addresses are allowed.
import assert from 'node:assert/strict';
import { namesRefusedAddress } from '../../outgoing/refused-addresses.js';
import { startFakeInternet, type FakeInternet } from '../support/fake-internet.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { createCallers, type Callers } from './callers.js';

const RULES = {
  allowPrivateNetwork: true,
  blockedNetworks: ['203.0.113.0/24', '10.20.0.1', '2001:db8:5::/48', '::ffff:198.51.100.7'],
};
const REFUSED = [
  '168.63.129.16',
  '203.0.113.9',
  '10.20.0.1',
  '198.51.100.7',
  '2001:db8:5::1',
  // IPv4 inside IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP.
  '::ffff:203.0.113.9',
  '::ffff:a83f:8110',
  '::203.0.113.9',
  '::ffff:0:203.0.113.9',
  '64:ff9b::203.0.113.9',
  '64:ff9b:1::a83f:8110',
  '2002:cb00:7109::1',
  '2001:0:cb00:7109::1',
  '2001:0:5db8:d822:0:0:34ff:8ef6',
  '2606:4700::5efe:203.0.113.9',
];
const ALLOWED = [
  '10.20.0.2',
  '203.0.112.255',
  '168.63.129.17',
  '2001:db8:6::1',
  '::ffff:10.20.0.2',
  '64:ff9b::8.8.8.8',
];

const toHost = (address: string): string => (address.includes(':') ? `[${address}]` : address);

describe('blocked addresses', () => {
  const callers: Callers = createCallers(RULES);
  let internet: FakeInternet;
  let target: HttpTarget;
  let port: string;

  before(async () => {
    internet = startFakeInternet();
    target = await startHttpTarget();
    ({ port } = new URL(target.url));
  });
  after(async () => {
    internet.close();
    await target.close();
    await callers.close();
  });

  const codeOf = (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => 'answered',
      (error: { code?: unknown }) => error.code,
    );

  for (const { name, ask } of callers.all) {
    it(`are refused to ${name} as a host and as what a name resolves to, and nothing is connected`, async () => {
      internet.connections.length = 0;
      for (const address of REFUSED) {
        assert.equal(await codeOf(ask(`http://${toHost(address)}:${port}/`)), 'blocked_address', address);
        internet.resolve('listed.test', ['127.0.0.1', address]);
        assert.equal(await codeOf(ask(`http://listed.test:${port}/`)), 'blocked_address', address);
      }
      assert.deepEqual([internet.connections, target.requests], [[], []]);
    });
  }

  it('leave other addresses as they are, private ones and this machine too', async () => {
    const [get] = callers.http;
    for (const address of ALLOWED) {
      assert.equal(namesRefusedAddress(new URL(`http://${toHost(address)}/`), RULES), false, address);
      internet.resolve('other.test', [address]);
      assert.equal(await codeOf(get!.ask(`http://other.test:${port}/`)), 'answered', address);
    }
    assert.equal(await codeOf(get!.ask(`http://localhost:${port}/`)), 'answered');
  });

  it('may be the loopback network, by name too', async () => {
    const strict = createCallers({ allowPrivateNetwork: true, blockedNetworks: ['127.0.0.0/8', '::1'] });
    for (const { ask } of strict.all) {
      for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::1]']) {
        assert.equal(await codeOf(ask(`http://${host}:${port}/`)), 'blocked_address', host);
      }
    }
    await strict.close();
  });
});
