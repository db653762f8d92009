import { sql, type InferResult, type Updateable } from 'kysely';
import { categoryIds, subcategoryIds } from './categories-repository.js';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { containing } from '../core/like-pattern.js';
import type { Tables, WorkflowRow } from '../core/tables.js';
import { anyOf, createStatement } from '../core/statement.js';
import { referFromDrawing } from '../files/references-repository.js';
import { lockProject } from '../projects/lock-project.js';
import { isInReach, type Reach } from '../access/reach.js';
import { serviceIdsOf } from '../../graph/actions/stored-actions.js';
import { connectionIdsOf } from '../../graph/connections.js';
import { deletePinsOfGone } from '../test-runs/pins-repository.js';
import { keepToolFields } from './tool-fields.js';
import { storeVersion } from './versions-repository.js';

export type MemberWorkflow = InferResult<ReturnType<typeof selectRecord>>[number];

/** The columns that run acceptance and checks need. */
export type StoredDrawing = InferResult<ReturnType<typeof selectDrawing>>[number];

export type StoredWorkflow = StoredDrawing & Pick<WorkflowRow, 'is_published' | 'revision'>;

export interface WorkflowUpdate {
  fields: Updateable<Tables['workflows']>;
  /** True if the drawing in `fields` is a new version; then the current one is stored as an earlier version. */
  isNewVersion: boolean;
}

export interface NewWorkflow {
  id: number; // reserved (`reserveId`), because the secrets are bound to it
  shortDescription?: string;
  projectId: number;
  authorId: number;
  title: string;
  isChat?: boolean;
  /** JSON text, secrets masked. */
  document: string;
  secretsEnc: Buffer | null;
}

interface WorkflowListQuery {
  reach: Reach;
  projectId: number | undefined;
  titleContains: string | undefined;
  limit: number;
  offset: number;
}

/** Appends the workflow to its project. Returns undefined if the project is gone. */
export function createWorkflow(db: Db, workflow: NewWorkflow): Promise<number | undefined> {
  return inTransaction(db, (transaction) => insertWorkflow(transaction, workflow));
}

/** `createWorkflow` in the caller's transaction. */
export async function insertWorkflow(transaction: Db, workflow: NewWorkflow): Promise<number | undefined> {
  if (!(await lockProject(transaction, workflow.projectId))) return undefined;
  const { id } = await transaction
    .insertInto('workflows')
    .values({
      id: workflow.id,
      project_id: workflow.projectId,
      author_id: workflow.authorId,
      title: workflow.title,
      ...(workflow.shortDescription !== undefined && { short_description: workflow.shortDescription }),
      ...(workflow.isChat === true && { is_chat: true }),
      sort_id: nextSortId(transaction, workflow.projectId),
      document: workflow.document,
      connection_ids: connectionIdsOf(workflow.document),
      service_ids: serviceIdsOf(workflow.document),
      secrets_enc: workflow.secretsEnc,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await referFromDrawing(transaction, { workflowId: id, version: 1, document: workflow.document });
  return id;
}

export function findWorkflow(db: Db, workflowId: number, reach: Reach): Promise<MemberWorkflow | undefined> {
  return selectRecord(memberWorkflows(db, reach)).where('workflows.id', '=', workflowId).executeTakeFirst();
}

/**
 * Returns the workflows among `workflowIds` that are in reach, in that order. Drawings of more than
 * `limitBytes` are null.
 */
export async function findWorkflows(
  db: Db,
  workflowIds: number[],
  reach: Reach,
  limitBytes?: number,
): Promise<MemberWorkflow[]> {
  if (workflowIds.length === 0) return [];
  const workflows = await selectRecord(memberWorkflows(db, reach), limitBytes)
    .where('workflows.id', '=', anyOf(workflowIds))
    .execute();
  const byId = new Map(workflows.map((workflow) => [workflow.id, workflow]));
  return workflowIds.flatMap((id) => byId.get(id) ?? []);
}

/** Returns the sizes of the drawings as JSON text, by workflow id. */
export async function measureDrawings(db: Db, workflowIds: number[]): Promise<Map<number, number>> {
  if (workflowIds.length === 0) return new Map();
  const drawings = await db
    .selectFrom('workflows')
    .select(['id', sql<number>`octet_length(document::text)`.as('bytes')])
    .where('id', '=', anyOf(workflowIds))
    .execute();
  return new Map(drawings.map(({ id, bytes }) => [id, bytes]));
}

/** Returns the ids of a page, ordered by project and by the position in it. */
export async function listWorkflows(
  db: Db,
  { reach, projectId, titleContains, limit, offset }: WorkflowListQuery,
): Promise<{ total: number; ids: number[] }> {
  const visible = memberWorkflows(db, reach)
    .$if(projectId !== undefined, (query) => query.where('workflows.project_id', '=', projectId ?? 0))
    .$if(titleContains !== undefined, (query) =>
      query.where('workflows.title', 'ilike', containing(titleContains ?? '')),
    );
  const { total } = await visible.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  if (limit === 0 || offset >= total) return { total, ids: [] };
  const found = await visible
    .select('workflows.id')
    .orderBy('workflows.project_id')
    .orderBy('workflows.sort_id')
    .orderBy('workflows.id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, ids: found.map(({ id }) => id) };
}

/** The caller must have checked access. */
export function findDrawing(db: Db, workflowId: number): Promise<StoredDrawing | undefined> {
  return selectDrawing(db, workflowId).executeTakeFirst();
}

/**
 * `mark` identifies the state of a workflow's row: if the drawing differs, the mark differs. It includes the time of
 * the update, because after a restore of the database the same revision may have another drawing.
 */
type MarkedDrawing = Omit<StoredDrawing, 'document'> & {
  mark: string;
  /** True if `mark` is the caller's known mark. `document` is null then. */
  isKnown: boolean;
  document: StoredDrawing['document'] | null;
};

const selectUnless = createStatement<{ workflowId: number; knownMark: string | null }, MarkedDrawing>(
  ['workflowId', 'knownMark'],
  ({ workflowId, knownMark }) => sql`
    SELECT id, project_id, title, secrets_enc, version, ${poolOfProject} AS project_pool, ${poolsOfProject} AS project_pools, mark, coalesce(mark = ${knownMark}::text, false) AS "isKnown",
      CASE WHEN mark IS DISTINCT FROM ${knownMark}::text THEN document END AS document
    FROM workflows, concat(revision, ' ', extract(epoch FROM updated_at)) AS mark
    WHERE id = ${workflowId} AND archived_at IS NULL`,
);

/** Like `findDrawing`, but omits the document if the caller knows its mark. */
export async function findDrawingUnless(
  db: Db,
  workflowId: number,
  knownMark: string | null,
): Promise<MarkedDrawing | undefined> {
  const [drawing] = await selectUnless(db, { workflowId, knownMark });
  return drawing;
}

/**
 * Updates a workflow. `toUpdate` reads the stored drawing under a row lock, so that concurrent updates cannot lose a
 * secret that `********` keeps or take the same version number, and no publication comes in between. If `toUpdate`
 * returns undefined, nothing changes. `writeMore` runs in the same transaction. An error of either rolls back
 * everything.
 *
 * Reads the returned workflow in the same transaction, so that it contains no later change of somebody else: the caller
 * would name the revision of that change in its next update, and undo the change unseen. Returns undefined if the
 * workflow is gone or out of `reach`.
 */
export function updateWorkflow(
  db: Db,
  { workflowId, reach }: { workflowId: number; reach: Reach },
  toUpdate: (
    stored: StoredWorkflow,
    transaction: Db,
  ) => WorkflowUpdate | undefined | Promise<WorkflowUpdate | undefined>,
  writeMore?: (transaction: Db) => Promise<void>,
): Promise<MemberWorkflow | undefined> {
  return inTransaction(db, async (transaction) => {
    const stored = await changeStored(transaction, workflowId, reach.userId, toUpdate, writeMore);
    return stored && findWorkflow(transaction, workflowId, reach);
  });
}

/**
 * `updateWorkflow` without a check of access. If `userId` is null, the workflow's author counts as the author of a new
 * version. Returns the workflow as it was before; undefined if it is gone.
 */
export async function changeStored(
  transaction: Db,
  workflowId: number,
  userId: number | null,
  toUpdate: Parameters<typeof updateWorkflow>[2],
  writeMore?: (transaction: Db) => Promise<void>,
): Promise<StoredWorkflow | undefined> {
  const stored = await selectDrawing(transaction, workflowId)
    .select(['is_published', 'revision'])
    .forNoKeyUpdate()
    .executeTakeFirst();
  const update = stored && (await toUpdate(stored, transaction));
  if (stored !== undefined && update !== undefined) {
    await writeUpdate(transaction, stored, update, userId);
    await writeMore?.(transaction);
  }
  return stored;
}

/** Returns the ids of a project's workflows in ascending order. The caller must have checked access. */
export async function workflowIdsOf(db: Db, projectId: number): Promise<number[]> {
  const found = await db
    .selectFrom('workflows')
    .select('id')
    .where('project_id', '=', projectId)
    .where('archived_at', 'is', null)
    .orderBy('id')
    .execute();
  return found.map(({ id }) => id);
}

async function writeUpdate(
  transaction: Db,
  stored: StoredWorkflow,
  { fields, isNewVersion }: WorkflowUpdate,
  userId: number | null,
): Promise<void> {
  if (isNewVersion) await storeVersion(transaction, stored.id);
  await transaction
    .updateTable('workflows')
    .set({
      ...fields,
      ...(fields.document !== undefined && {
        connection_ids: connectionIdsOf(fields.document),
        service_ids: serviceIdsOf(fields.document),
      }),
      ...(isNewVersion ? nextVersion(stored, userId) : {}),
      revision: stored.revision + 1,
      updated_at: sql<Date>`now()`,
    })
    .where('id', '=', stored.id)
    .execute();
  if (fields.document !== undefined || fields.is_tool !== undefined) await keepToolFields(transaction, stored.id);
  const { document } = fields;
  if (document === undefined) return;
  await deletePinsOfGone(transaction, stored.id);
  const version = stored.version + Number(isNewVersion);
  await referFromDrawing(transaction, { workflowId: stored.id, version, document });
}

/** Uses the current time, not that of the transaction's start, so that the later of two updates has the later time. */
function nextVersion({ version }: StoredWorkflow, userId: number | null) {
  return { version: version + 1, version_author_id: userId, version_created_at: sql<Date>`clock_timestamp()` };
}

/** The position after the last workflow of a project. The caller must have locked the project. */
export function nextSortId(db: Db, projectId: number) {
  return db
    .selectFrom('workflows')
    .select(sql<number>`coalesce(max(sort_id), 0) + 1`.as('next'))
    .where('project_id', '=', projectId)
    .where('archived_at', 'is', null);
}

// Subselects, because a join would lock the project's row together with the workflow's.
const poolOfProject = sql`(SELECT pool FROM projects WHERE projects.id = workflows.project_id)`;
const poolsOfProject = sql`(SELECT pools FROM projects WHERE projects.id = workflows.project_id)`;

function selectDrawing(db: Db, workflowId: number) {
  return db
    .selectFrom('workflows')
    .select(['id', 'project_id', 'title', 'document', 'secrets_enc', 'version'])
    .select([
      sql<string | null>`${poolOfProject}`.as('project_pool'),
      sql<string[]>`${poolsOfProject}`.as('project_pools'),
    ])
    .where('id', '=', workflowId)
    .where('archived_at', 'is', null);
}

export function memberWorkflows(db: Db, reach: Reach) {
  return db
    .selectFrom('workflows')
    .innerJoin('projects', 'projects.id', 'workflows.project_id')
    .innerJoin('project_members', 'project_members.project_id', 'projects.id')
    .where('project_members.user_id', '=', reach.userId)
    .where('workflows.archived_at', 'is', null)
    .where('projects.deleted_at', 'is', null)
    .where(isInReach('projects.id', reach));
}

/** The drawing stays text because it is only passed on. It is null if it has more than `limitBytes`. */
function selectRecord(query: ReturnType<typeof memberWorkflows>, limitBytes = 2 ** 31 - 1) {
  const document = sql<
    string | null
  >`CASE WHEN octet_length(workflows.document::text) > ${limitBytes}::integer THEN NULL
    ELSE workflows.document::text END`;
  return query
    .select([
      'workflows.id',
      'workflows.project_id',
      'workflows.author_id',
      'workflows.title',
      'workflows.tags',
      'workflows.sort_id',
      'workflows.version',
      'workflows.revision',
      'workflows.market_title',
      'workflows.short_description',
      'workflows.available_languages',
      'workflows.readme_guide',
      'workflows.run_fee_usd',
      'workflows.free_runs_per_user',
      'workflows.max_run_cost_usd',
      'workflows.is_published',
      'workflows.slug',
      'workflows.is_tool',
      'workflows.is_chat',
      'workflows.copied_from',
      'workflows.created_at',
      'workflows.updated_at',
      'workflows.archived_at',
      'project_members.role',
    ])
    .select([document.as('document_text'), categoryIds, subcategoryIds]);
}
