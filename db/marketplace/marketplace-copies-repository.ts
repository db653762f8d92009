// Copies published workflows (docs/use/interface-notes/catalog.md).
import { sql } from 'kysely';
import { copyCategories } from '../workflows/categories-repository.js';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { findWorkflowRole } from '../projects/members-repository.js';
import type { Reach } from '../access/reach.js';
import { liveCopyOf, publishedWorkflows } from './marketplace-repository.js';
import { insertProject } from '../projects/projects-repository.js';
import { lockProject } from '../projects/lock-project.js';
import { nextSortId } from '../workflows/workflows-repository.js';
import { serviceIdsOf } from '../../graph/actions/stored-actions.js';

/** Created for a user who owns no project. */
const FIRST_PROJECT = { name: 'My workflows', webhook_url: '', is_webhook_enabled: false };

interface Copied {
  workflowId: number;
  /** True if this call created the workflow. */
  isNew: boolean;
}

type Source = NonNullable<Awaited<ReturnType<typeof findSource>>>;

/**
 * Returns the caller's existing copy, or creates one in their oldest own project. Returns the original to its author if
 * it is in reach. If the reach is one project, only that project is searched, and a new copy is created there. `toCopy`
 * returns the copy's drawing as JSON text. Returns undefined if no published workflow has the slug, or the project is
 * gone.
 *
 * The caller's row is locked first, so that one of several concurrent requests copies and the others find its copy.
 * Lock order: user, project, workflows.
 */
export function copyFromMarketplace(
  db: Db,
  slug: string,
  reach: Reach,
  toCopy: (published: Record<string, unknown>, sealed: SealedRunSecrets | undefined) => string,
): Promise<Copied | undefined> {
  const { userId } = reach;
  return inTransaction(db, async (transaction) => {
    await transaction.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute();
    const source = await findSource(transaction, slug);
    if (source === undefined) return undefined;
    // An author who has left the project cannot open the original, so they get a copy like anybody else.
    const isAuthor = source.author_id === userId;
    if (isAuthor && (await findWorkflowRole(transaction, source.id, reach)) !== undefined) {
      return { workflowId: source.id, isNew: false };
    }
    const { rows } = await liveCopyOf(sql`${source.id}`, reach).execute(transaction);
    const existing = rows[0]?.copy_id;
    const toDocument = async () => toCopy(source.document, await findPublishedSecrets(transaction, source));
    const workflowId = existing ?? (await insertCopy(transaction, source, reach, await toDocument()));
    return workflowId === undefined ? undefined : { workflowId, isNew: existing === undefined };
  });
}

function findSource(db: Db, slug: string) {
  return publishedWorkflows(db)
    .innerJoin('graph_snapshots', 'graph_snapshots.hash', 'workflows.published_snapshot')
    .select([
      'workflows.id',
      'workflows.author_id',
      'workflows.title',
      'workflows.market_title',
      'workflows.short_description',
      'workflows.available_languages',
      'workflows.readme_guide',
      'workflows.run_fee_usd',
      'workflows.free_runs_per_user',
      'workflows.published_snapshot',
      'graph_snapshots.document',
    ])
    .where('workflows.slug', '=', slug)
    .executeTakeFirst();
}

/** Returns the bytes of the published drawing; 0 if no published workflow has the slug. */
export async function measurePublished(db: Db, slug: string): Promise<number> {
  const row = await publishedWorkflows(db)
    .innerJoin('graph_snapshots', 'graph_snapshots.hash', 'workflows.published_snapshot')
    .select(sql<number>`octet_length(graph_snapshots.document::text)`.as('bytes'))
    .where('workflows.slug', '=', slug)
    .executeTakeFirst();
  return row?.bytes ?? 0;
}

export interface SealedRunSecrets {
  id: string;
  project_id: number;
  secrets_enc: Buffer | null;
}

function findPublishedSecrets(db: Db, source: Source): Promise<SealedRunSecrets | undefined> {
  return db
    .selectFrom('runs')
    .select(['id', 'project_id', 'secrets_enc'])
    .where('workflow_id', '=', source.id)
    .where('snapshot_hash', '=', source.published_snapshot)
    .where('secrets_enc', 'is not', null)
    .orderBy('use_as_marketplace_template', 'desc')
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

async function insertCopy(db: Db, source: Source, reach: Reach, document: string): Promise<number | undefined> {
  const { id: sourceId, author_id: _, document: __, published_snapshot: ___, ...fields } = source;
  const { userId } = reach;
  const projectId = reach.projectId ?? (await lockOldestOwnProject(db, userId));
  if (reach.projectId !== undefined && !(await lockProject(db, projectId))) return undefined;
  const { id: copyId } = await db
    .insertInto('workflows')
    .values({
      ...fields,
      project_id: projectId,
      author_id: userId,
      sort_id: nextSortId(db, projectId),
      document,
      service_ids: serviceIdsOf(document),
      secrets_enc: null,
      copied_from: sourceId,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await copyCategories(db, sourceId, copyId);
  const { run_fee_usd, free_runs_per_user } = source;
  await db
    .insertInto('marketplace_copies')
    .values({ copy_id: copyId, source_id: sourceId, user_id: userId, run_fee_usd, free_runs_per_user })
    .execute();
  return copyId;
}

async function lockOldestOwnProject(db: Db, userId: number): Promise<number> {
  const oldest = await db
    .selectFrom('projects')
    .innerJoin('project_members', 'project_members.project_id', 'projects.id')
    .select('projects.id')
    .where('project_members.user_id', '=', userId)
    .where('project_members.role', '=', 'owner')
    .where('projects.deleted_at', 'is', null)
    .orderBy('projects.created_at')
    .orderBy('projects.id')
    .limit(1)
    .forNoKeyUpdate('projects')
    .executeTakeFirst();
  return oldest?.id ?? (await insertProject(db, userId, FIRST_PROJECT)).id;
}
