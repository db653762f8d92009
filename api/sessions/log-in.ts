import { findLoginAccount, holdsPassword } from '../../db/sessions/passwords-repository.js';
import { openSession } from '../../db/sessions/sessions-repository.js';
import type { AuditTrail } from '../http/audit-rule.js';
import type { SessionDeps } from './deps.js';
import { ApiError } from '../http/errors.js';
import type { OpenSession } from './answer-session.js';
import { signedIn, admitLogin } from './login-throttle.js';
import { verifyPassword } from './password-hash.js';

interface Credentials {
  email: string;
  password: string;
}

interface Visitor {
  network: string;
  userAgent: string;
  signal: AbortSignal;
  audit: AuditTrail;
}

/**
 * Opens a session. Throws 401, 429 (`admitLogin`), or 503 while too many passwords wait to be compared. An account that
 * does not exist, has no password or is not active is answered and counted like a wrong password, and after the same
 * time.
 */
export async function logIn(
  deps: SessionDeps,
  { email, password }: Credentials,
  visitor: Visitor,
): Promise<OpenSession> {
  const { db } = deps;
  const { network, userAgent, audit } = visitor;
  const account = await findLoginAccount(db, email, network);
  if (account !== undefined) audit.concerns(account.userId);
  // Existing accounts are counted by id, because the database folds case differently from JavaScript.
  const name = account === undefined ? `unknown ${email.toLowerCase()}` : nameOf(account.userId);
  const attempt = { name, hash: account?.hash, isKnownNetwork: account?.isKnownNetwork ?? false, password };
  const forgive = await tryPassword(deps, attempt, visitor);
  if (forgive === undefined || account?.hash === undefined) throw wrongPassword();
  const { userId, hash } = account;
  const session = { userId, method: 'password', network, userAgent } as const;
  const opened = await audit.change(async (trx) => {
    // The password may have been replaced, or the user deactivated, during the comparison.
    const made = await openSession(trx, session, () => holdsPassword(trx, userId, hash));
    if (made === undefined) throw wrongPassword();
    return made;
  }, signedIn);
  await forgive();
  return opened;
}

/** The name by which failures of an account are counted. */
export function nameOf(userId: number): string {
  return `user ${userId}`;
}

interface Attempt {
  name: string;
  /** The hash of the right password; undefined without one. */
  hash: string | undefined;
  isKnownNetwork: boolean;
  password: string;
}

/**
 * Counts the attempt as failed and compares the password. Returns a function that undoes the count, or undefined for a
 * wrong password. Throws 429 and 503 like `logIn`.
 */
export async function tryPassword(
  { db, signIn: { hashQueue } }: SessionDeps,
  { name, hash, isKnownNetwork, password }: Attempt,
  { network, signal }: Pick<Visitor, 'network' | 'signal'>,
): Promise<(() => Promise<void>) | undefined> {
  // `hashQueue.run` refuses too, but only after the attempt is counted, and a full queue should cost nobody an attempt.
  hashQueue.refuseWhenFull(isKnownNetwork);
  const forgive = await admitLogin(db, { account: name, network, isKnownNetwork }, () => hashQueue.isBusy());
  const compare = () => verifyPassword(password, hash);
  return (await hashQueue.run(compare, { isPreferred: isKnownNetwork, signal })) ? forgive : undefined;
}

function wrongPassword(): ApiError {
  return new ApiError(401, 'authentication_failed', 'Wrong e-mail address or password.', {
    headers: { 'WWW-Authenticate': 'Bearer realm="api"' },
  });
}
