// What the service itself changes of a connection: tokens, status, and when it was used. One process at a time asks a provider
// for new tokens: it holds a lease in the row, and no transaction stays open while the provider answers. A process that dies
// with the lease leaves it to run out, and the next one asks with what is stored.
import { sql } from 'kysely';
import { insertAuditEntry } from '../audit/audit-entry.js';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { webhookEventOfConnection } from '../webhooks/webhook-outbox-repository.js';
import type { WaitKey } from '../waits/wait-key.js';
import { endConnectionWaits } from './connection-waits-repository.js';

/** A connection with what is sealed, for whoever sends something with it. */
export type SealedConnection = NonNullable<Awaited<ReturnType<typeof findSealedConnection>>>;

/** Undefined where the project has no such connection. */
export function findSealedConnection(db: Db, projectId: number, id: number) {
  return db
    .selectFrom('connections')
    .select(['id', 'project_id as projectId', 'name', 'kind', 'origins', 'settings', 'status', 'version'])
    .select(['secrets_enc as secretsEnc', 'tokens_enc as tokensEnc', 'tokens_version as tokensVersion'])
    .select(sql<boolean>`coalesce(leased_until > now(), false)`.as('isLeased'))
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** A lease on one set of tokens. */
export interface Lease {
  id: number;
  lease: string;
}

/** Returns false where another process has the lease, or the tokens are newer than `tokensVersion`. */
export async function takeLease(
  db: Db,
  { id, lease, tokensVersion, seconds }: Lease & { tokensVersion: number; seconds: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('connections')
    .set({ lease, leased_until: sql<Date>`now() + make_interval(secs => ${seconds})` })
    .where('id', '=', id)
    .where('tokens_version', '=', tokensVersion)
    .where(sql<boolean>`coalesce(leased_until <= now(), true)`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The tokens stay as they are. */
export async function releaseLease(db: Db, { id, lease }: Lease): Promise<void> {
  await db
    .updateTable('connections')
    .set({ lease: null, leased_until: null })
    .where('id', '=', id)
    .where('lease', '=', lease)
    .execute();
}

interface NewTokens {
  tokensEnc: Buffer;
  expiresAt: Date | null;
}

const READY = { status: 'ready', status_reason: null, grant_lost_at: null, lease: null, leased_until: null } as const;

/**
 * Stores what a provider has given for the tokens of `tokensVersion`. It does so without the lease too, because a provider
 * may have rotated the refresh token, and nobody else has the new one. Nodes that wait for a sign-in go on: the reconciler
 * wakes them. Returns false where there are newer tokens, or the connection was changed or deleted.
 */
export function storeRefreshedTokens(
  db: Db,
  { id, tokensVersion }: { id: number; tokensVersion: number },
  { tokensEnc, expiresAt }: NewTokens,
): Promise<boolean> {
  return inTransaction(db, async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('connections')
      .set({ ...READY, tokens_enc: tokensEnc, expires_at: expiresAt, tokens_version: tokensVersion + 1 })
      .where('id', '=', id)
      .where('tokens_version', '=', tokensVersion)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await endConnectionWaits(transaction, id);
    return numUpdatedRows > 0n;
  });
}

/**
 * Stores the tokens of a sign-in, whatever another process is about to store: its lease is lost. Returns who has waited;
 * undefined where the addresses of the connection were changed since (`version`), or it was deleted.
 */
export function storeSignedIn(
  db: Db,
  { id, version, account, tokensEnc, expiresAt }: NewTokens & { id: number; version: number; account: string | null },
): Promise<WaitKey[] | undefined> {
  return inTransaction(db, async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('connections')
      .set({
        ...READY,
        account,
        tokens_enc: tokensEnc,
        expires_at: expiresAt,
        tokens_version: sql<number>`tokens_version + 1`,
      })
      .where('id', '=', id)
      .where('version', '=', version)
      .executeTakeFirst();
    return numUpdatedRows === 0n ? undefined : endConnectionWaits(transaction, id);
  });
}

/**
 * The provider gives no more tokens for what was granted. The webhook of the project is told once, and owner and admins find
 * it in their inbox. Nothing happens where the lease was lost.
 */
export function loseGrant(db: Db, { id, lease }: Lease, reason: string): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const lost = await transaction
      .updateTable('connections')
      .set({
        status: 'needs_authorization',
        status_reason: reason,
        grant_lost_at: sql<Date>`now()`,
        lease: null,
        leased_until: null,
      })
      .where('id', '=', id)
      .where('lease', '=', lease)
      .where('status', '<>', 'needs_authorization')
      .returning('id')
      .executeTakeFirst();
    if (lost !== undefined) await webhookEventOfConnection(id).execute(transaction);
  });
}

/** The other side has refused the credential with these tokens. Newer ones, and one that waits for a sign-in, stay as they are. */
export async function markFailing(db: Db, id: number, tokensVersion: number, reason: string): Promise<void> {
  await db
    .updateTable('connections')
    .set({ status: 'failing', status_reason: reason })
    .where('id', '=', id)
    .where('tokens_version', '=', tokensVersion)
    .where('status', '<>', 'needs_authorization')
    .execute();
}

/** The other side has taken the credential after all. */
export async function markWorking(db: Db, id: number): Promise<void> {
  await db
    .updateTable('connections')
    .set({ status: 'ready', status_reason: null })
    .where('id', '=', id)
    .where('status', '=', 'failing')
    .execute();
}

interface Use {
  runId: string;
  projectId: number;
  connection: { id: number; name: string };
}

/** Tells the audit log of the first use of a connection by a run. Idempotent. */
export function noteUse(db: Db, { runId, projectId, connection }: Use): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const noted = await transaction
      .insertInto('connection_uses')
      .values({ run_id: runId, connection_id: connection.id })
      .onConflict((conflict) => conflict.doNothing())
      .returning('run_id')
      .executeTakeFirst();
    if (noted === undefined) return;
    await touchConnection(transaction, connection.id);
    await insertAuditEntry(transaction, {
      action: 'connection.used',
      doer: { via: 'system' },
      projectId,
      target: { type: 'connection', id: String(connection.id), name: connection.name },
      changes: { run: [null, runId] },
    });
  });
}

/** The row may be locked by whoever refreshes: when it was used last is no reason to wait. */
export async function touchConnection(db: Db, id: number): Promise<void> {
  await sql`
    UPDATE connections SET last_used_at = now() WHERE id = (
      SELECT id FROM connections WHERE id = ${id} FOR NO KEY UPDATE SKIP LOCKED)`.execute(db);
}
