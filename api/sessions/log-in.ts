import { findLoginAccount, holdsPassword } from '../../db/sessions/passwords-repository.js';
import { createSession } from '../../db/sessions/sessions-repository.js';
import type { AuditTrail } from '../audit/audit-rule.js';
import type { AppDeps } from '../deps.js';
import { ApiError } from '../http/errors.js';
import type { OpenSession } from './answer-session.js';
import { signedIn } from './count-sign-in.js';
import { admitLogin } from './login-throttle.js';
import { verifyPassword } from './password-hash.js';

export interface Credentials {
  email: string;
  password: string;
}

interface Visitor {
  network: string;
  userAgent: string;
  /** Aborted when the caller hangs up. */
  signal: AbortSignal;
  audit: AuditTrail;
}

/**
 * Opens a session. Throws 401, 429 while too many attempts have failed, or 503 while too many passwords are being compared.
 * An account that does not exist, or has no password, is answered like a wrong password, as late and counted alike.
 */
export async function logIn(deps: AppDeps, { email, password }: Credentials, visitor: Visitor): Promise<OpenSession> {
  const { db, signIn } = deps;
  const { hashQueue } = signIn;
  const { network, userAgent, signal, audit } = visitor;
  const account = await findLoginAccount(db, email, network);
  if (account !== undefined) audit.concerns(account.userId);
  const isKnownNetwork = account?.isKnownNetwork ?? false;
  // Before anything is counted: who finds the line full loses no attempt by it.
  hashQueue.refuseWhenFull(isKnownNetwork);
  // Of an existing account the id counts, because the database's capitals are not JavaScript's.
  const name = account === undefined ? `unknown ${email.toLowerCase()}` : `user ${account.userId}`;
  const forgive = await admitLogin(db, { account: name, network, isKnownNetwork }, () => hashQueue.isBusy());
  const isRight = await hashQueue.run(() => verifyPassword(password, account?.hash), {
    isPreferred: isKnownNetwork,
    signal,
  });
  if (!isRight || account?.hash === undefined) throw wrongPassword();
  const { userId, hash } = account;
  const opened = await audit.change(async (trx) => {
    // The password may have been replaced while it was being compared.
    if (!(await holdsPassword(trx, userId, hash))) throw wrongPassword();
    return createSession(trx, { userId, method: 'password', network, userAgent });
  }, signedIn);
  await forgive();
  return opened;
}

function wrongPassword(): ApiError {
  return new ApiError(401, 'authentication_failed', 'Wrong e-mail address or password.', {
    headers: { 'WWW-Authenticate': 'Bearer realm="api"' },
  });
}
