import { isIPv6 } from 'node:net';

interface Addresses {
  PUBLIC_URL?: string | undefined;
  HOST: string;
  PORT: number;
}

/**
 * Where people reach the API, without a slash at the end. Without PUBLIC_URL that is the API's own address, as far as
 * it is known.
 */
export function toPublicUrl({ PUBLIC_URL, HOST, PORT }: Addresses): string {
  return (PUBLIC_URL ?? `http://${toHost(HOST)}:${PORT}`).replace(/\/$/, '');
}

/** All addresses of a machine are none that a browser goes to. */
function toHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return isIPv6(host) ? `[${host}]` : host;
}
