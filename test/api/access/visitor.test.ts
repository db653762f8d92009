import assert from 'node:assert/strict';
import { clientAddress, createTrustedProxies, isForwardedHttps, networkOf } from '../../../api/access/visitor.js';

describe('the address of the client of a request', () => {
  const isTrusted = createTrustedProxies(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32']);
  const from = (peerAddress: string, forwarded?: string): string =>
    clientAddress({ peerAddress, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }, isTrusted);

  it('is the address of the peer if it is no trusted proxy, whatever its headers contain', () => {
    assert.equal(from('203.0.113.9'), '203.0.113.9');
    assert.equal(from('203.0.113.9', '198.51.100.1'), '203.0.113.9');
    assert.equal(from('::ffff:203.0.113.9', '198.51.100.1'), '203.0.113.9');
    assert.equal(from(''), '');
  });

  const chains: [title: string, peer: string, forwarded: string, address: string][] = [
    ['one proxy', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['a proxy that the socket shows as IPv6', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['two proxies', '10.1.2.3', '198.51.100.1, 192.0.2.1', '198.51.100.1'],
    ['what the client has written before them', '10.1.2.3', '127.0.0.1, 198.51.100.1', '198.51.100.1'],
    ['an IPv6 client', '2001:db8::1', '2a00::5', '2a00::5'],
    ['addresses with ports', '10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['IPv6 addresses with ports', '10.1.2.3', '[2a00::5]:4711', '2a00::5'],
    ['proxies only', '10.1.2.3', '10.9.9.9', '10.9.9.9'],
    ['what is no address', '10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
    ['an empty header', '10.1.2.3', '', '10.1.2.3'],
    ['a list without end', '10.1.2.3', `${'198.51.100.1,'.repeat(1000)}10.0.0.1`, '198.51.100.1'],
  ];
  for (const [title, peer, forwarded, address] of chains) {
    it(`is the last entry that is no trusted proxy: ${title}`, () => assert.equal(from(peer, forwarded), address));
  }

  it('counts as one network: an IPv4 address itself, and the /64 of an IPv6 address', () => {
    assert.equal(networkOf('198.51.100.1'), '198.51.100.1');
    assert.equal(networkOf('2a00:1:2:3:4:5:6:7'), '2a00:1:2:3::/64');
    assert.equal(networkOf('2a00:1:2:3::9'), networkOf('2a00:1:2:3:ffff::'));
    assert.notEqual(networkOf('2a00:1:2:3::9'), networkOf('2a00:1:2:4::9'));
    assert.equal(networkOf('fe80::1%eth0'), 'fe80::/64');
    assert.equal(networkOf(''), '');
  });

  it('is https only if a trusted proxy reports it', () => {
    const https = { 'x-forwarded-proto': 'https' };
    assert.equal(isForwardedHttps({ peerAddress: '10.1.2.3', headers: https }, isTrusted), true);
    assert.equal(
      isForwardedHttps({ peerAddress: '10.1.2.3', headers: { 'x-forwarded-proto': 'http' } }, isTrusted),
      false,
    );
    assert.equal(isForwardedHttps({ peerAddress: '10.1.2.3', headers: {} }, isTrusted), false);
    assert.equal(isForwardedHttps({ peerAddress: '203.0.113.9', headers: https }, isTrusted), false);
  });
});
