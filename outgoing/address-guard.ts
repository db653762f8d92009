// Checks each address to which a connection is opened for a request of a user (refused-addresses.ts), so a name that
// resolves to a refused address is refused, too.
import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { createRules, isRefused, isRefusedHost, type AddressRules, type Rules } from './refused-addresses.js';

class BlockedAddressError extends Error {
  override name = 'BlockedAddressError';
  readonly code = 'blocked_address';
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Resolves a name once per connection and connects only to that answer, because a second answer could differ. A name
 * with allowed and refused addresses is refused entirely, so that the result never depends on their order.
 */
function createGuardedLookup(rules: Rules): LookupFunction {
  return (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const [first] = addresses;
      if (first === undefined || addresses.some(({ address }) => isRefused(address, rules))) {
        return callback(notPublic(), '', 0);
      }
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

/**
 * Creates a connector for undici that checks the host before the lookup, too: an address is not looked up, and
 * `localhost` counts as private whatever it resolves to.
 */
export function createGuardedConnector(addressRules: AddressRules): buildConnector.connector {
  const rules = createRules(addressRules);
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: createGuardedLookup(rules) });
  return (options, callback) => {
    if (isRefusedHost(options.hostname, rules)) return callback(notPublic(), null);
    connect(options, callback);
  };
}

/** The message is the same for every reason, so that it reveals neither the address nor the service that is there. */
function notPublic(): BlockedAddressError {
  return new BlockedAddressError('The address is not public.');
}
