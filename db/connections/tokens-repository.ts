// The service's own changes of a connection: tokens, status and last use. Only the process that holds the lease in the
// row asks a provider for new tokens, and no transaction stays open meanwhile. If that process dies, the lease expires,
// and the next one asks with the stored tokens.
import { sql } from 'kysely';
import { insertAuditEntry } from '../audit/audit-entry.js';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { webhookEventOfConnection } from '../webhooks/webhook-outbox-repository.js';
import type { WaitKey } from '../waits/wait-key.js';
import { endConnectionWaits } from './connection-waits-repository.js';

/** A connection with its sealed values, for sending a request with it. */
export type SealedConnection = NonNullable<Awaited<ReturnType<typeof findSealedConnection>>>;

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

export interface Lease {
  id: number;
  lease: string;
}

/** Returns false if another process has the lease, or the tokens are newer than `tokensVersion`. */
export async function acquireLease(
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

/** Releases the lease without new tokens. */
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
 * Stores tokens that replace those of `tokensVersion`. Does not require the lease, because the provider may have
 * rotated the refresh token and only this process has the new one. Ends waits for a sign-in; the reconciler wakes
 * their runs. Returns false if there are newer tokens, or if the connection was deleted or its addresses were changed.
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
 * Stores the tokens of a sign-in. They win over a concurrent refresh, whose lease is lost. Returns the ended waits;
 * undefined if the connection was deleted or its addresses were changed since (`version`).
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
 * Records that the provider issues no more tokens for the grant. Stores one event for the project's webhook, and the
 * inboxes of owners and admins show the connection. Does nothing if the lease was lost, or if the connection already
 * needs a sign-in.
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

/**
 * Records that the other side has refused the credential with these tokens. Does nothing if there are newer tokens, or
 * if the connection needs a sign-in.
 */
export async function markFailing(db: Db, id: number, tokensVersion: number, reason: string): Promise<void> {
  await db
    .updateTable('connections')
    .set({ status: 'failing', status_reason: reason })
    .where('id', '=', id)
    .where('tokens_version', '=', tokensVersion)
    .where('status', '<>', 'needs_authorization')
    .execute();
}

/** Records that the other side has accepted a failing credential. */
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

/** Records the first use of a connection by a run in the audit log. Idempotent. */
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

/** Skips the update if the row is locked: the time of the last use is not worth waiting for. */
export async function touchConnection(db: Db, id: number): Promise<void> {
  await sql`
    UPDATE connections SET last_used_at = now() WHERE id = (
      SELECT id FROM connections WHERE id = ${id} FOR NO KEY UPDATE SKIP LOCKED)`.execute(db);
}
