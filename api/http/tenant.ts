import { clientAddress, networkOf, type Arrival } from '../access/visitor.js';
import type { AppDeps } from '../deps.js';
import type { Caller } from './route.js';

/** For whom memory and processor time are taken: the user, or the network of a caller without credentials. */
export function tenantOf(
  { signIn }: AppDeps,
  { caller, ...arrival }: Arrival & { caller: Caller | undefined },
): string {
  if (caller !== undefined) return `user:${caller.userId}`;
  return `network:${networkOf(clientAddress(arrival, signIn.trustedProxies))}`;
}
