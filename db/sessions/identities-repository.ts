// Maps people of an OpenID Connect issuer to users. Writer: the API (docs/operate/sign-in.md, "OpenID Connect").
import { sql, type Transaction } from 'kysely';
import { SYSTEM } from '../audit/audit-entry.js';
import { recordChange } from '../audit/record-change.js';
import type { Database, Db } from '../core/client.js';
import type { Tables } from '../core/tables.js';
import { createUser, findUserByEmail } from '../users/users-repository.js';

export interface Identity {
  issuer: string;
  /** Identifies the person permanently, unlike an e-mail address. */
  subject: string;
  name: string;
  /** Undefined unless the issuer has verified the address. */
  verifiedEmail: string | undefined;
}

const UNIQUE_VIOLATION = '23505';

/**
 * Returns the linked user; else the user with the verified e-mail address who is not linked to this issuer yet;
 * else, with `createUsers`, a new user without API access. Undefined if there is none, or if the user with the
 * address is already linked.
 */
export async function resolveIdentity(
  db: Database,
  identity: Identity,
  options: { createUsers: boolean },
): Promise<number | undefined> {
  const linked = await findLinkedUser(db, identity);
  if (linked !== undefined) return linked;
  const link = () => db.transaction().execute((trx) => linkIdentity(trx, identity, options.createUsers));
  // If somebody assigns the address to a user between check and insert, the second attempt finds that user.
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

/** The lock serializes first sign-ins, which are rare, so that two concurrent ones of one person create one user. */
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
