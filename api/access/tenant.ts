import type { AppDeps } from '../deps.js';
import type { Caller } from '../http/route.js';
import { clientAddress, networkOf, type Arrival } from './visitor.js';

/** Returns for whom memory and processor time are taken: the user, or the network of a caller without credentials. */
export function tenantOf(
  { signIn }: AppDeps,
  { caller, ...arrival }: Arrival & { caller: Caller | undefined },
): string {
  if (caller !== undefined) return `user:${caller.userId}`;
  return `network:${networkOf(clientAddress(arrival, signIn.trustedProxies))}`;
}
