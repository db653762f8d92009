import ipaddr from 'ipaddr.js';

/** The middle groups of an ISATAP address (RFC 5214). */
const ISATAP = new Set(['0:5efe', '200:5efe']);
/** IPv4-compatible, IPv4-mapped (RFC 4291), IPv4-translated (RFC 2765), and NAT64 (RFC 6052, RFC 8215). */
const IN_LAST_BITS = ['::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'].map((text) =>
  ipaddr.IPv6.parseCIDR(text),
);
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR('2002::/16');
const TEREDO = ipaddr.IPv6.parseCIDR('2001::/32');

/** Returns the IPv4 addresses to which packets for this IPv6 address may be translated or tunnelled. */
export function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const [, first = 0, second = 0, , , , last = 0, end = 0] = address.parts;
  if (IN_LAST_BITS.some((network) => address.match(network)) || isIsatap(address)) return [toIpv4(last, end)];
  if (address.match(SIX_TO_FOUR)) return [toIpv4(first, second)];
  // Teredo (RFC 4380) has the server's address, and the client's with its bits inverted.
  if (address.match(TEREDO)) return [toIpv4(second, address.parts[3]!), toIpv4(last ^ 0xffff, end ^ 0xffff)];
  return [];
}

/** Whether the last 32 bits are an IPv4 address by the rules of ISATAP, which has no prefix of its own. */
export function isIsatap(address: ipaddr.IPv6): boolean {
  const middle = address.parts.slice(4, 6).map((part) => part.toString(16));
  return ISATAP.has(middle.join(':'));
}

function toIpv4(high: number, low: number): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
