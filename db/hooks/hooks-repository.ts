// The hooks of workflows. Writer: the API. A token is stored twice: as a hash, by which a delivery finds its hook, and
// sealed, so that the address can be shown again.
import { sql, type InferResult } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { lazily } from '../core/lazily.js';
import type { HookVerification } from '../core/tables.js';
import { lockProject } from '../projects/lock-project.js';
import { hashToken } from '../core/random-token.js';
import { isAmong, isOf, type OfWorkflows } from '../workflows/of-workflows.js';

export const MOST_HOOKS = 20;

interface NewHook {
  /** Reserved (`reserveId`), because sealed values are bound to it. */
  id: number;
  projectId: number;
  workflowId: number;
  authorId: number;
  verify: HookVerification;
  header: string | null;
  token: string;
  tokenEnc: Buffer;
  secretEnc: Buffer | null;
}

/** `authorRole` is null if the author is no longer an active member of the workflow's project. */
export type HookRecord = InferResult<ReturnType<typeof hookRecords>>[number];

export type AddressedHook = NonNullable<Awaited<ReturnType<typeof findAddressedHook>>>;

/**
 * `gone`: there is no such workflow. `too_many`: the workflow has reached `MOST_HOOKS`. The lock on the project's row
 * makes the count reliable, and keeps hooks from being added during a deletion.
 */
export function insertHook(db: Db, hook: NewHook): Promise<HookRecord | 'gone' | 'too_many'> {
  return inTransaction(db, async (transaction) => {
    if (!(await lockProject(transaction, hook.projectId))) return 'gone';
    const workflow = await transaction
      .selectFrom('workflows')
      .select('id')
      .where('id', '=', hook.workflowId)
      .where('archived_at', 'is', null)
      .executeTakeFirst();
    if (workflow === undefined) return 'gone';
    if ((await countHooks(transaction, { workflowId: hook.workflowId })) >= MOST_HOOKS) return 'too_many';
    await transaction
      .insertInto('hooks')
      .values({
        id: hook.id,
        workflow_id: hook.workflowId,
        author_id: hook.authorId,
        verify: hook.verify,
        header: hook.header,
        token_hash: hashToken(hook.token),
        token_enc: hook.tokenEnc,
        secret_enc: hook.secretEnc,
      })
      .execute();
    return hookRecords(transaction, { workflowId: hook.workflowId })
      .where('hooks.id', '=', hook.id)
      .executeTakeFirstOrThrow();
  });
}

/** Lists by workflow and id. The caller must have checked access. */
export async function pageOfHooks(
  db: Db,
  of: OfWorkflows,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; hooks: HookRecord[] }> {
  const total = await countHooks(db, of);
  const hooks = await hookRecords(db, of)
    .orderBy('hooks.workflow_id')
    .orderBy('hooks.id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, hooks };
}

export function findHook(db: Db, workflowId: number, hookId: number): Promise<HookRecord | undefined> {
  return hookRecords(db, { workflowId }).where('hooks.id', '=', hookId).executeTakeFirst();
}

/** Returns false if the workflow has no such hook, or the hook does not require signatures. */
export async function replaceHookSecret(
  db: Db,
  { workflowId, hookId, secretEnc }: { workflowId: number; hookId: number; secretEnc: Buffer },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('hooks')
    .set({ secret_enc: secretEnc })
    .where('id', '=', hookId)
    .where('workflow_id', '=', workflowId)
    .where('secret_enc', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function deleteHook(db: Db, workflowId: number, hookId: number): Promise<boolean> {
  const { rows } = await sql`
    WITH deleted AS (DELETE FROM hooks WHERE id = ${hookId} AND workflow_id = ${workflowId} RETURNING id),
      emptied AS (DELETE FROM hook_windows WHERE hook_id IN (SELECT id FROM deleted))
    SELECT id FROM deleted`.execute(db);
  return rows.length > 0;
}

/** Returns undefined for an unknown token, a hook of a deleted workflow or project, or an inactive author. */
export function findAddressedHook(db: Db, token: string) {
  return db
    .selectFrom('hooks')
    .innerJoin('workflows', 'workflows.id', 'hooks.workflow_id')
    .innerJoin('projects', 'projects.id', 'workflows.project_id')
    .innerJoin('users', 'users.id', 'hooks.author_id')
    .leftJoin('project_members', (join) =>
      join
        .onRef('project_members.project_id', '=', 'projects.id')
        .onRef('project_members.user_id', '=', 'hooks.author_id'),
    )
    .select(['hooks.id', 'projects.id as projectId', 'hooks.workflow_id as workflowId', 'hooks.author_id as authorId'])
    .select(['hooks.verify', 'hooks.header', 'hooks.secret_enc as secretEnc', 'project_members.role as authorRole'])
    .where('hooks.token_hash', '=', hashToken(token))
    .where('users.is_active', '=', true)
    .where('workflows.archived_at', 'is', null)
    .where('projects.deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Stores the answer to the last delivery. The answer is only shown to people, so a crash of PostgreSQL may lose it. */
export async function noteDelivery(db: Db, hookId: number, status: number): Promise<void> {
  await sql`
    UPDATE hooks SET last_delivery_at = now(), last_delivery_status = ${status}
    WHERE id = ${hookId} RETURNING ${lazily}`.execute(db);
}

async function countHooks(db: Db, of: OfWorkflows): Promise<number> {
  const { total } = await db
    .selectFrom('hooks')
    .innerJoin('workflows', 'workflows.id', 'hooks.workflow_id')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where(isAmong(of))
    .executeTakeFirstOrThrow();
  return total;
}

function hookRecords(db: Db, of: OfWorkflows) {
  return db
    .selectFrom('hooks')
    .innerJoin('users', 'users.id', 'hooks.author_id')
    .innerJoin('workflows', 'workflows.id', 'hooks.workflow_id')
    .leftJoin('project_members', (join) =>
      join
        .onRef('project_members.project_id', '=', 'workflows.project_id')
        .onRef('project_members.user_id', '=', 'hooks.author_id')
        .on('users.is_active', '=', true),
    )
    .select(['hooks.id', 'hooks.verify', 'hooks.header', 'hooks.token_enc as tokenEnc'])
    .select(['users.id as authorId', 'users.name as authorName', 'project_members.role as authorRole'])
    .select(['hooks.created_at as createdAt', 'hooks.last_delivery_at as lastDeliveryAt'])
    .select('hooks.last_delivery_status as lastDeliveryStatus')
    .select(['workflows.id as workflowId', 'workflows.title as workflowTitle'])
    .where(isAmong(of));
}

// Deliveries of a hook are counted for each minute, exactly over any number of processes: the row lock serializes the
// deliveries of a hook, and only the database's clock is used.

const WINDOW_SECONDS = 60;

/** Refusals are counted separately, so that somebody who only knows the address cannot use up the sender's limit. */
export type DeliveryKind = 'deliveries' | 'refusals';

interface HookCount {
  count: number;
  /** Seconds until the window ends, at least 1. */
  secondsLeft: number;
}

/** Counts a delivery. A window starts with the first delivery after the previous window. */
export async function countDelivery(db: Db, hookId: number, kind: DeliveryKind): Promise<HookCount> {
  const isOver = sql`stored.ends_at <= now()`;
  const next = (column: DeliveryKind) => {
    const stored = sql.ref(`stored.${column}`);
    return sql`CASE WHEN ${isOver} THEN 0 ELSE ${stored} END + ${sql.ref(`excluded.${column}`)}`;
  };
  const [delivered, refused] = kind === 'deliveries' ? [1, 0] : [0, 1];
  const { rows } = await sql<HookCount>`
    INSERT INTO hook_windows AS stored (hook_id, ends_at, deliveries, refusals)
    VALUES (${hookId}, now() + make_interval(secs => ${WINDOW_SECONDS}), ${delivered}, ${refused})
    ON CONFLICT (hook_id) DO UPDATE SET
      deliveries = ${next('deliveries')},
      refusals = ${next('refusals')},
      ends_at = CASE WHEN ${isOver} THEN excluded.ends_at ELSE stored.ends_at END
    RETURNING ${sql.ref(kind)} AS count,
      greatest(1, ceil(extract(epoch FROM ends_at - now())))::integer AS "secondsLeft"`.execute(db);
  return rows[0]!;
}

/** Deletes hooks in the transaction that deletes their workflow or project and has locked the project's row. */
export async function deleteHooksOf(transaction: Db, of: OfWorkflows): Promise<void> {
  await sql`
    WITH deleted AS (DELETE FROM hooks WHERE ${isOf(of)} RETURNING id)
    DELETE FROM hook_windows WHERE hook_id IN (SELECT id FROM deleted)`.execute(transaction);
}
