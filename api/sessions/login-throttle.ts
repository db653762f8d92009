// Limits the attempts to guess a password, at sign-in and when it is changed. docs/operate/sign-in.md, "Guessing
// passwords".
import { createHash } from 'node:crypto';
import type { Db } from '../../db/core/client.js';
import type { SignInMethod } from '../../db/core/tables.js';
import {
  countFailure,
  forgiveFailure,
  readFailures,
  reserveAttempt,
} from '../../db/sessions/login-failures-repository.js';
import { throttled, ApiError } from '../http/errors.js';
import type { SessionDeps } from './deps.js';

/** The limit on failed logins a minute for an account from one network. */
const MOST_BY_PAIR = 5;
/**
 * The limit on failed logins a minute for an account, from all networks that are unknown to it. Above the limit, these
 * networks must wait (`TURN_AFTER_SECONDS`).
 */
const MOST_BY_UNKNOWN_NETWORKS = 20;
/** The limit on failed logins a minute from one network, for all accounts to which it is unknown. */
const MOST_BY_NETWORK = 100;
const TURN_AFTER_SECONDS = 30;

interface LoginAttempt {
  /** Names the account, even if it does not exist. */
  account: string;
  network: string;
  /** True if a stored session of the account was last used from this network. */
  isKnownNetwork: boolean;
}

/**
 * Counts the attempt as failed. Throws 429 if it is refused; it may have been counted nevertheless. Returns a function
 * that undoes the count, to be called if the attempt succeeds. `isBusy`: true makes every unknown network wait,
 * whatever the count of the account.
 */
export async function admitLogin(db: Db, attempt: LoginAttempt, isBusy: () => boolean): Promise<() => Promise<void>> {
  const keys = keysOf(attempt);
  const before = await readFailures(db, keys.pair);
  if (before !== undefined && before.failures >= MOST_BY_PAIR) throw throttled(before.secondsLeft);
  if (!attempt.isKnownNetwork) await admitUnknownNetwork(db, keys, isBusy);
  const { failures, secondsLeft } = await countFailure(db, keys.pair);
  if (failures > MOST_BY_PAIR) throw throttled(secondsLeft);
  const counted = attempt.isKnownNetwork ? [keys.pair] : Object.values(keys);
  return () => forgiveFailure(db, counted);
}

/**
 * While an account is attacked from many networks, or `isBusy` returns true, an unknown network is refused at first and
 * admitted when it retries after half a minute. This delays the right user, but attackers must come back from the same
 * network for each attempt.
 */
async function admitUnknownNetwork(db: Db, keys: Keys, isBusy: () => boolean): Promise<void> {
  const network = await countFailure(db, keys.network);
  if (network.failures > MOST_BY_NETWORK) throw throttled(network.secondsLeft);
  const account = await countFailure(db, keys.account);
  if (account.failures <= MOST_BY_UNKNOWN_NETWORKS && !isBusy()) return;
  const seconds = await reserveAttempt(db, keys.pair, TURN_AFTER_SECONDS);
  if (seconds > 0) throw throttled(seconds);
}

type Keys = Record<'pair' | 'account' | 'network', Buffer>;

function keysOf({ account, network }: LoginAttempt): Keys {
  return {
    pair: hashOf('pair', account, network),
    account: hashOf('account', account),
    network: hashOf('network', network),
  };
}

function hashOf(...parts: string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

/** Names the user whose account a sign-in is for, in its audit record. */
export const signedIn = {
  keyOf: ({ userId }: { userId: number }) => ({ id: userId }),
  userOf: ({ userId }: { userId: number }) => userId,
};

export async function countSignIn<T>(
  { signIns }: SessionDeps['metrics'],
  method: SignInMethod,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work();
    signIns.inc({ method, outcome: 'done' });
    return result;
  } catch (error) {
    signIns.inc({ method, outcome: outcomeOf(error) });
    throw error;
  }
}

function outcomeOf(error: unknown): 'refused' | 'throttled' | 'failed' {
  if (!(error instanceof ApiError) || error.status >= 500) return 'failed';
  return error.status === 429 ? 'throttled' : 'refused';
}
