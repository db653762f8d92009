import { sql, type Selectable } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { containing } from '../core/like-pattern.js';
import { setMember } from './members-repository.js';
import { isInReach, type Reach } from '../access/reach.js';
import type { ProjectRow, Role, SpendingPeriod, Tables } from '../core/tables.js';
import { anyOf } from '../core/statement.js';
import { dropPendingDeliveries } from '../webhooks/webhook-outbox-repository.js';

export type ProviderKeyListing = Pick<
  Selectable<Tables['provider_keys']>,
  'id' | 'project_id' | 'name' | 'provider' | 'masked_key' | 'created_at'
>;

const COLUMNS = [
  'id',
  'name',
  'webhook_url',
  'is_webhook_enabled',
  'total_spent_usd',
  'spending_limit_usd',
  'spending_period',
  'pool',
  'pools',
  'created_by',
  'created_at',
  'updated_at',
] as const;

export type MemberProject = Pick<ProjectRow, (typeof COLUMNS)[number]> & {
  role: Role;
  spent_in_period_usd: string;
  /** May lag behind by a few seconds. */
  stored_bytes: number;
};

interface ProjectFields {
  name: string;
  webhook_url: string;
  is_webhook_enabled: boolean;
}

/** Both are set, or both are null for no limit. */
interface SpendingLimitFields {
  spending_limit_usd: string | null;
  spending_period: SpendingPeriod | null;
}

export interface PoolFields {
  pool: string | null;
  pools: string[];
}

/** `webhook_secret_enc` is sealed and bound to `id`, which must be reserved before (`reserveId`). */
type NewProject = ProjectFields & { id?: number; webhook_secret_enc?: Buffer };

interface ProjectListQuery {
  reach: Reach;
  nameContains: string | undefined;
  limit: number;
  offset: number;
}

/** The creator becomes the owner. An enabled webhook needs a secret. */
export function createProject(db: Db, userId: number, fields: NewProject): Promise<MemberProject> {
  return inTransaction(db, (transaction) => insertProject(transaction, userId, fields));
}

/** `createProject` in the caller's transaction. */
export async function insertProject(transaction: Db, userId: number, fields: NewProject): Promise<MemberProject> {
  const project = await transaction
    .insertInto('projects')
    .values({ ...fields, created_by: userId })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  await setMember(transaction, project.id, userId, 'owner');
  return { ...project, role: 'owner', spent_in_period_usd: '0', stored_bytes: 0 };
}

export function findProject(db: Db, projectId: number, reach: Reach): Promise<MemberProject | undefined> {
  return memberProjects(db, reach).where('projects.id', '=', projectId).executeTakeFirst();
}

/** False for a project that is deleted or unknown. */
export async function isProject(db: Db, projectId: number): Promise<boolean> {
  return (await findPoolsOf(db, projectId)) !== undefined;
}

/** The part of a project that administrators of the service see; undefined if the project is deleted or unknown. */
export function findPoolsOf(
  db: Db,
  projectId: number,
): Promise<(PoolFields & { id: number; name: string }) | undefined> {
  return db
    .selectFrom('projects')
    .select(['id', 'name', 'pool', 'pools'])
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Newest first. */
export async function listProjects(
  db: Db,
  { reach, nameContains, limit, offset }: ProjectListQuery,
): Promise<{ total: number; projects: MemberProject[] }> {
  const visible = memberProjects(db, reach).$if(nameContains !== undefined, (query) =>
    query.where('projects.name', 'ilike', containing(nameContains ?? '')),
  );
  const { total } = await visible
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  if (limit === 0 || offset >= total) return { total, projects: [] };
  const projects = await visible.orderBy('projects.id', 'desc').limit(limit).offset(offset).execute();
  return { total, projects };
}

/**
 * Returns false if the project is gone. Stores `webhookSecret` (sealed) if the webhook is enabled and has no secret.
 * Drops undelivered events if the webhook is disabled or unset.
 */
export function updateProject(
  db: Db,
  projectId: number,
  fields: Partial<ProjectFields & SpendingLimitFields & PoolFields>,
  webhookSecret: Buffer,
): Promise<boolean> {
  const isOn = sql<boolean>`coalesce(${fields.is_webhook_enabled ?? null}::boolean, is_webhook_enabled)`;
  return inTransaction(db, async (transaction) => {
    const webhook = await transaction
      .updateTable('projects')
      .set({
        ...fields,
        webhook_secret_enc: sql<Buffer | null>`
          CASE WHEN ${isOn} THEN coalesce(webhook_secret_enc, ${webhookSecret}) ELSE webhook_secret_enc END`,
        updated_at: sql<Date>`now()`,
      })
      .where('id', '=', projectId)
      .where('deleted_at', 'is', null)
      .returning(['webhook_url', 'is_webhook_enabled'])
      .executeTakeFirst();
    if (webhook === undefined) return false;
    if (!webhook.is_webhook_enabled || webhook.webhook_url === '') await dropPendingDeliveries(transaction, projectId);
    return true;
  });
}

/** Does not return the keys themselves. */
export async function listProviderKeys(db: Db, projectIds: number[]): Promise<ProviderKeyListing[]> {
  if (projectIds.length === 0) return [];
  return db
    .selectFrom('provider_keys')
    .select(['id', 'project_id', 'name', 'provider', 'masked_key', 'created_at'])
    .where('project_id', '=', anyOf(projectIds))
    .orderBy('id')
    .execute();
}

function memberProjects(db: Db, reach: Reach) {
  return db
    .selectFrom('projects')
    .innerJoin('project_members', 'project_members.project_id', 'projects.id')
    .select(COLUMNS.map((column) => `projects.${column}` as const))
    .select('project_members.role')
    .select(sql<string>`spent_in_period(projects, clock_timestamp())`.as('spent_in_period_usd'))
    .select(
      sql<number>`coalesce((SELECT bytes FROM stored_bytes WHERE project_id = projects.id), 0)`.as('stored_bytes'),
    )
    .where('project_members.user_id', '=', reach.userId)
    .where('projects.deleted_at', 'is', null)
    .where(isInReach('projects.id', reach));
}
