import assert from 'node:assert/strict';
import { namesRefusedAddress } from '../../outgoing/refused-addresses.js';

const STRICT = { allowPrivateNetwork: false };
const PUBLIC = [
  '93.184.216.34',
  '8.8.8.8',
  '1.1.1.1',
  '2606:2800:220:1:248:1893:25c8:1946',
  '2a00:1450:4001:80b::200e',
];
const REFUSED = [
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['loopback', '::1'],
  ['unspecified', '0.0.0.0'],
  ['unspecified', '::'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.1.1'],
  ['link-local', '169.254.1.1'],
  ['metadata', '169.254.169.254'],
  ['metadata', 'fd00:ec2::254'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['multicast', '224.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['reserved', '240.0.0.1'],
  ['benchmarking', '198.18.0.1'],
  ['documentation', '192.0.2.1'],
  ['link-local', 'fe80::1'],
  ['unique local', 'fc00::1'],
  ['multicast', 'ff02::1'],
  ['mapped IPv4', '::ffff:127.0.0.1'],
  ['mapped IPv4, even a public one', '::ffff:8.8.8.8'],
  ['compatible IPv4', '::127.0.0.1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64 local', '64:ff9b:1::7f00:1'],
  ['6to4', '2002:7f00:1::'],
  ['Teredo', '2001::1'],
  ['documentation', '2001:db8::1'],
  ['Azure’s own service', '168.63.129.16'],
  ['no address', 'localhost'],
] as const;

describe('address guard', () => {
  const isRefused = (address: string): boolean =>
    namesRefusedAddress(new URL(`http://${address.includes(':') ? `[${address}]` : address}/`), STRICT);

  for (const address of PUBLIC) {
    it(`lets ${address} through`, () => assert.equal(isRefused(address), false));
  }
  for (const [range, address] of REFUSED) {
    it(`refuses ${range}: ${address}`, () => assert.equal(isRefused(address), true));
  }

  it('tells of a URL whether it is private by itself, in any notation', () => {
    const inside = [
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '[::1]',
      '[::ffff:10.0.0.1]',
      'localhost',
      'a.LOCALHOST.',
    ];
    for (const host of inside) assert.equal(namesRefusedAddress(new URL(`http://${host}:8080/x`), STRICT), true, host);
    for (const host of ['example.com', '93.184.216.34', '[2a00:1450:4001:80b::200e]', 'localhost.example.com']) {
      assert.equal(namesRefusedAddress(new URL(`https://${host}/`), STRICT), false, host);
    }
  });
});
