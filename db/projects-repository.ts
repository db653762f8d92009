import { sql, type Selectable } from 'kysely';
import type { Database, Db } from './client.js';
import { containing } from './like-pattern.js';
import { setMember } from './members-repository.js';
import type { ProjectRow, ProviderKeysTable, Role } from './tables.js';

export type ProviderKeyListing = Pick<
  Selectable<ProviderKeysTable>,
  'id' | 'project_id' | 'name' | 'provider' | 'masked_key' | 'created_at'
>;

/** A project as one of its members sees it. */
export type MemberProject = ProjectRow & { role: Role };

export interface ProjectFields {
  name: string;
  webhook_url: string;
  is_webhook_enabled: boolean;
}

interface ProjectListQuery {
  userId: number;
  nameContains: string | undefined;
  limit: number;
  offset: number;
}

/** The creator becomes its owner. */
export function createProject(db: Database, userId: number, fields: ProjectFields): Promise<MemberProject> {
  return db.transaction().execute((transaction) => insertProject(transaction, userId, fields));
}

/** Within the caller's transaction. */
export async function insertProject(transaction: Db, userId: number, fields: ProjectFields): Promise<MemberProject> {
  const project = await transaction
    .insertInto('projects')
    .values({ ...fields, created_by: userId })
    .returningAll()
    .executeTakeFirstOrThrow();
  await setMember(transaction, project.id, userId, 'owner');
  return { ...project, role: 'owner' };
}

export function findProject(db: Db, projectId: number, userId: number): Promise<MemberProject | undefined> {
  return memberProjects(db, userId).where('projects.id', '=', projectId).executeTakeFirst();
}

/** Newest first. */
export async function listProjects(
  db: Db,
  { userId, nameContains, limit, offset }: ProjectListQuery,
): Promise<{ total: number; projects: MemberProject[] }> {
  const visible = memberProjects(db, userId).$if(nameContains !== undefined, (query) =>
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

/** False when it is gone already. */
export async function updateProject(db: Db, projectId: number, fields: Partial<ProjectFields>): Promise<boolean> {
  const result = await db
    .updateTable('projects')
    .set({ ...fields, updated_at: sql<Date>`now()` })
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** The row stays for the books; every read goes by `deleted_at`. */
export async function deleteProject(db: Db, projectId: number): Promise<boolean> {
  const result = await db
    .updateTable('projects')
    .set({ deleted_at: sql<Date>`now()`, updated_at: sql<Date>`now()` })
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Never the keys themselves. */
export async function listProviderKeys(db: Db, projectIds: number[]): Promise<ProviderKeyListing[]> {
  if (projectIds.length === 0) return [];
  return db
    .selectFrom('provider_keys')
    .select(['id', 'project_id', 'name', 'provider', 'masked_key', 'created_at'])
    .where('project_id', 'in', projectIds)
    .orderBy('id')
    .execute();
}

function memberProjects(db: Db, userId: number) {
  return db
    .selectFrom('projects')
    .innerJoin('project_members', 'project_members.project_id', 'projects.id')
    .selectAll('projects')
    .select('project_members.role')
    .where('project_members.user_id', '=', userId)
    .where('projects.deleted_at', 'is', null);
}
