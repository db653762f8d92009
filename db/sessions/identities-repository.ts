// A person of an OpenID Connect issuer is one of our users. The API writes this
// (docs/operate/sign-in.md, "OpenID Connect").
import { sql, type Transaction } from 'kysely';
import { SYSTEM } from '../audit/audit-entry.js';
import { recordChange } from '../audit/record-change.js';
import type { Database, Db } from '../core/client.js';
import type { Tables } from '../core/tables.js';
import { createUser, findUserByEmail } from '../users/users-repository.js';

export interface Identity {
  issuer: string;
  /** Names the person for ever, as e-mail addresses do not. */
  subject: string;
  name: string;
  /** Undefined unless the issuer says that it has verified the address. */
  verifiedEmail: string | undefined;
}

/** PostgreSQL's code for a second row with the same key. */
const UNIQUE_VIOLATION = '23505';

/**
 * The user: the one that is linked, else the one with the verified e-mail address who is not linked to this issuer yet,
 * else a new one without API access where `createUsers`. Undefined when there is none, or when the address belongs to
 * somebody who is linked already.
 */
export async function resolveIdentity(
  db: Database,
  identity: Identity,
  options: { createUsers: boolean },
): Promise<number | undefined> {
  const linked = await findLinkedUser(db, identity);
  if (linked !== undefined) return linked;
  const link = () => db.transaction().execute((trx) => linkIdentity(trx, identity, options.createUsers));
  // Somebody may give the address to a user between the look and the insert: then the second look finds that user.
  return link().catch((error: unknown) => {
    if (((error ?? {}) as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    return link();
  });
}

async function findLinkedUser(db: Db, { issuer, subject }: Identity): Promise<number | undefined> {
  const row = await db
    .selectFrom('oidc_identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row?.user_id;
}

/** One at a time, so that two first sign-ins of one person make one user. They are rare. */
async function linkIdentity(
  trx: Transaction<Tables>,
  identity: Identity,
  createUsers: boolean,
): Promise<number | undefined> {
  await sql`SELECT pg_advisory_xact_lock(hashtext('workflow-service'), hashtext('oidc-identities'))`.execute(trx);
  const linked = await findLinkedUser(trx, identity);
  if (linked !== undefined) return linked;
  const { issuer, subject, name, verifiedEmail } = identity;
  const owner = verifiedEmail === undefined ? undefined : await findUserByEmail(trx, verifiedEmail);
  if (owner !== undefined && (await isLinked(trx, owner.id, issuer))) return undefined;
  if (owner === undefined && !createUsers) return undefined;
  const make = { action: 'user.created', type: 'user', doer: SYSTEM, isMade: true, keyOf: toKey } as const;
  const user =
    owner ?? (await recordChange(trx, make, () => createUser(trx, { name, email: verifiedEmail, apiAccess: false })));
  await trx.insertInto('oidc_identities').values({ issuer, subject, user_id: user.id }).execute();
  return user.id;
}

const toKey = ({ id }: { id: number }) => ({ id });

async function isLinked(db: Db, userId: number, issuer: string): Promise<boolean> {
  const row = await db
    .selectFrom('oidc_identities')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('issuer', '=', issuer)
    .executeTakeFirst();
  return row !== undefined;
}
