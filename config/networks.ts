import { isIP } from 'node:net';
import { z } from 'zod';

/** Comma-separated addresses and networks of IPv4 and IPv6, such as `10.0.0.0/8,::1`. */
export const networkList = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine(
    (parts) => parts.every(isNetwork),
    'must be comma-separated addresses or networks, such as 10.0.0.0/8,::1',
  );

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  // An address with a zone (`%eth0`) belongs to one link.
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}
