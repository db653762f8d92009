// The connections of projects. Writer: the API. tokens-repository.ts stores what providers issue.
import { sql, type InferResult } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { ConnectionKind, ConnectionStatus } from '../core/tables.js';
import { anyOf } from '../core/statement.js';
import { lockProject } from '../projects/lock-project.js';
import { isInReach, type Reach } from '../access/reach.js';
import type { WaitKey } from '../waits/wait-key.js';
import { endConnectionWaits } from './connection-waits-repository.js';

export const MOST_CONNECTIONS = 500;

/** A connection as the API reads it to show it. `usedBy` counts the workflows whose drawings name it. */
export type ConnectionRecord = InferResult<ReturnType<typeof records>>[number];

interface ConnectionFields {
  name: string;
  origins: string[];
  settings: Record<string, unknown>;
  secretsEnc: Buffer;
}

interface NewConnection extends ConnectionFields {
  /** Reserved (`reserveId`), because sealed values are bound to it. */
  id: number;
  projectId: number;
  kind: ConnectionKind;
  status: ConnectionStatus;
}

/**
 * `gone`: there is no such project. `too_many`: the project has reached `MOST_CONNECTIONS`. `taken`: another connection
 * has the name. The lock on the project's row makes these checks reliable.
 */
export function insertConnection(
  db: Db,
  connection: NewConnection,
): Promise<ConnectionRecord | 'gone' | 'too_many' | 'taken'> {
  const { id, projectId, name, kind, origins, settings, secretsEnc, status } = connection;
  return inTransaction(db, async (transaction) => {
    if (!(await lockProject(transaction, projectId))) return 'gone';
    if ((await countConnections(transaction, projectId)) >= MOST_CONNECTIONS) return 'too_many';
    if (await isNameTaken(transaction, projectId, name)) return 'taken';
    await transaction
      .insertInto('connections')
      .values({
        id,
        project_id: projectId,
        name,
        kind,
        origins,
        settings: JSON.stringify(settings),
        secrets_enc: secretsEnc,
        status,
      })
      .execute();
    return records(transaction).where('connections.id', '=', id).executeTakeFirstOrThrow();
  });
}

/** Lists by name. The caller must have checked access. */
export async function pageOfConnections(
  db: Db,
  { projectId, limit, offset }: { projectId: number; limit: number; offset: number },
): Promise<{ total: number; connections: ConnectionRecord[] }> {
  const total = await countConnections(db, projectId);
  const connections = await records(db)
    .where('connections.project_id', '=', projectId)
    .orderBy('connections.name')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, connections };
}

export function findConnection(db: Db, projectId: number, id: number): Promise<ConnectionRecord | undefined> {
  return records(db)
    .where('connections.project_id', '=', projectId)
    .where('connections.id', '=', id)
    .executeTakeFirst();
}

/** Returns the columns that an update needs, including the sealed values, and locks the row. */
export function lockConnection(transaction: Db, projectId: number, id: number) {
  return transaction
    .selectFrom('connections')
    .select(['name', 'kind', 'origins', 'settings', 'secrets_enc', 'status'])
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

interface ConnectionChange extends ConnectionFields {
  id: number;
  projectId: number;
  /** True if secrets are sent to another address from now on. Then tokens and started sign-ins are invalidated. */
  movesSecrets: boolean;
  status: ConnectionStatus;
}

/**
 * Returns `taken` if another connection of the project has the name. The caller must hold the locks of the project
 * (`lockProject`), for the check of the name, and of the connection (`lockConnection`).
 */
export async function changeConnection(transaction: Db, change: ConnectionChange): Promise<'changed' | 'taken'> {
  const { id, projectId, name, origins, settings, secretsEnc, movesSecrets, status } = change;
  if (await isNameTaken(transaction, projectId, name, id)) return 'taken';
  await transaction
    .updateTable('connections')
    .set({
      name,
      origins,
      settings: JSON.stringify(settings),
      secrets_enc: secretsEnc,
      status,
      // The reason explains the status, so a new status clears it.
      status_reason: movesSecrets ? null : sql<string | null>`CASE WHEN status = ${status} THEN status_reason END`,
      updated_at: sql<Date>`now()`,
      ...(movesSecrets && {
        tokens_enc: null,
        expires_at: null,
        account: null,
        lease: null,
        leased_until: null,
        version: sql<number>`version + 1`,
        tokens_version: sql<number>`tokens_version + 1`,
      }),
    })
    .where('id', '=', id)
    .execute();
  if (movesSecrets) await transaction.deleteFrom('connection_sign_ins').where('connection_id', '=', id).execute();
  return 'changed';
}

/** Returns the waits for the connection, whose nodes continue and fail with `connection_missing`. */
export async function deleteConnection(transaction: Db, projectId: number, id: number): Promise<WaitKey[]> {
  await transaction.deleteFrom('connections').where('project_id', '=', projectId).where('id', '=', id).execute();
  return endConnectionWaits(transaction, id);
}

/** Returns the connections among `ids` that belong to the project. */
export async function findConnectionsOf(db: Db, projectId: number, ids: readonly number[]) {
  if (ids.length === 0) return [];
  return db
    .selectFrom('connections')
    .select(['id', 'name', 'kind', 'origins'])
    .where('project_id', '=', projectId)
    .where('id', '=', anyOf([...new Set(ids)]))
    .orderBy('id')
    .execute();
}

/** Finds connections by name, because imports refer to them by name. */
export function findConnectionsByName(db: Db, projectId: number, names: readonly string[]) {
  return db
    .selectFrom('connections')
    .select(['id', 'name', 'kind'])
    .where('project_id', '=', projectId)
    .where('name', '=', sql<string>`ANY (${names})`)
    .execute();
}

/** Returns undefined if there is no such connection, or its project was deleted. */
export async function findProjectOfConnection(db: Db, id: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('connections')
    .innerJoin('projects', 'projects.id', 'connections.project_id')
    .select('connections.project_id as projectId')
    .where('connections.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.projectId;
}

/** The workflows whose drawings name the connection, ordered by id. */
export function workflowsWith(db: Db, projectId: number, id: number) {
  return db
    .selectFrom('workflows')
    .select(['id', 'title'])
    .where('project_id', '=', projectId)
    .where('archived_at', 'is', null)
    .where(sql<boolean>`connection_ids @> ARRAY[${id}::integer]`)
    .orderBy('id');
}

/** Returns the open runs that have used the connection or wait for it, newest first. */
export async function openRunsWith(db: Db, projectId: number, id: number, limit: number) {
  const { rows } = await sql<{ id: string; workflow: number; waits: boolean }>`
    SELECT run.id, run.workflow_id AS workflow, EXISTS (
      SELECT FROM waits WHERE waits.run_id = run.id AND waits.connection_id = ${id} AND waits.closed_at IS NULL) AS waits
    FROM runs AS run
    WHERE run.project_id = ${projectId} AND run.status = 'In Progress' AND run.id IN (
      SELECT run_id FROM connection_uses WHERE connection_id = ${id}
      UNION SELECT run_id FROM waits WHERE connection_id = ${id} AND kind = 'connection' AND closed_at IS NULL)
    ORDER BY run.created_at DESC, run.id LIMIT ${limit}::integer`.execute(db);
  return rows;
}

/**
 * Lists connections that need a sign-in because their grant was lost or a run waits for them, in all projects in reach
 * of which the user is owner or admin.
 */
export async function pageToAuthorize(
  db: Db,
  { reach, limit, offset }: { reach: Reach; limit: number; offset: number },
): Promise<{ total: number; connections: (ConnectionRecord & { projectName: string; waitingRuns: number })[] }> {
  const mine = (query: ReturnType<typeof records>) =>
    query
      .innerJoin('projects', 'projects.id', 'connections.project_id')
      .innerJoin('project_members', 'project_members.project_id', 'projects.id')
      .where('project_members.user_id', '=', reach.userId)
      .where('project_members.role', 'in', ['owner', 'admin'])
      .where('projects.deleted_at', 'is', null)
      .where(isInReach('projects.id', reach))
      .where('connections.grant_lost_at', 'is not', null)
      .where('connections.status', '=', 'needs_authorization');
  const { total } = await mine(records(db))
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const connections = await mine(records(db))
    .select('projects.name as projectName')
    .select(
      sql<number>`(SELECT count(DISTINCT run_id) FROM waits
        WHERE waits.connection_id = connections.id AND kind = 'connection' AND closed_at IS NULL)`.as('waitingRuns'),
    )
    .orderBy('connections.grant_lost_at', 'desc')
    .orderBy('connections.id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, connections };
}

async function countConnections(db: Db, projectId: number): Promise<number> {
  const { total } = await db
    .selectFrom('connections')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow();
  return total;
}

async function isNameTaken(db: Db, projectId: number, name: string, exceptId = 0): Promise<boolean> {
  const taken = await db
    .selectFrom('connections')
    .select('id')
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .where('id', '<>', exceptId)
    .executeTakeFirst();
  return taken !== undefined;
}

function records(db: Db) {
  return db
    .selectFrom('connections')
    .select(['connections.id', 'connections.project_id as projectId', 'connections.name', 'connections.kind'])
    .select(['connections.origins', 'connections.settings', 'connections.secrets_enc as secretsEnc'])
    .select([
      'connections.status',
      'connections.status_reason as statusReason',
      'connections.account',
      'connections.version',
    ])
    .select(['connections.expires_at as expiresAt', 'connections.last_used_at as lastUsedAt'])
    .select(
      sql<number>`(SELECT count(*) FROM workflows WHERE workflows.project_id = connections.project_id
        AND workflows.archived_at IS NULL AND workflows.connection_ids @> ARRAY[connections.id])`.as('usedBy'),
    );
}
