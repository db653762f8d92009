// The variables of the network: the addresses that outgoing requests may reach, and the port of the metrics
// (docs/operate/operations.md, "Environment").
import { isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import { flag } from './variable-types.js';

/** Comma-separated addresses and networks of IPv4 and IPv6, such as `10.0.0.0/8,::1`. */
export const networkList = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine((parts) => parts.every(isNetwork), 'must be comma-separated addresses or networks, such as 10.0.0.0/8,::1');

export const port = z.coerce.number().int().min(0).max(65535);

export const networkVariables = {
  ALLOW_PRIVATE_NETWORK: flag.default(false),
  BLOCKED_ADDRESSES: networkList.default([]),
  METRICS_PORT: port.optional(),
};

export interface NetworkSettings {
  /** The rules for the addresses that users name for outgoing requests (`outgoing/refused-addresses.ts`). */
  addressRules: { allowPrivateNetwork: boolean; blockedNetworks: string[] };
  /** The port of the API's metrics and of its detailed readiness. Undefined: the port of the API. */
  metricsPort: number | undefined;
}

export function toNetworkSettings(values: z.infer<z.ZodObject<typeof networkVariables>>): NetworkSettings {
  return {
    addressRules: { allowPrivateNetwork: values.ALLOW_PRIVATE_NETWORK, blockedNetworks: values.BLOCKED_ADDRESSES },
    metricsPort: values.METRICS_PORT,
  };
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  // An address with a zone (`%eth0`) is valid on one link only.
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

interface Addresses {
  PUBLIC_URL?: string | undefined;
  HOST: string;
  PORT: number;
}

/**
 * Returns the address at which people reach the API, without a trailing slash: PUBLIC_URL, or if that is not set, the
 * address that HOST and PORT make.
 */
export function toPublicUrl({ PUBLIC_URL, HOST, PORT }: Addresses): string {
  return (PUBLIC_URL ?? `http://${toHost(HOST)}:${PORT}`).replace(/\/$/, '');
}

/** A browser cannot open the address that stands for all addresses of a machine. */
function toHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return isIPv6(host) ? `[${host}]` : host;
}
