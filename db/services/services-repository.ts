// The services of projects, each made from an OpenAPI document, and their actions. Writer: the API.
import { sql, type InferResult } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { JsonObject } from '../../graph/json.js';
import { isInReach, type Reach } from '../access/reach.js';
import { lockProject } from '../projects/lock-project.js';

export const MOST_SERVICES = 200;

/**
 * The limit on the fields of an action, and on the schema of its answer. Larger ones are not read: earlier builds could
 * store actions of many megabytes, and a request may read a hundred actions. Replacing the document of the service
 * makes its actions smaller.
 */
export const MOST_BYTES_OF_ACTION = 192 * 1024;

export interface ServiceFields {
  name: string;
  description: string;
  version: string;
  documentationUrl: string | null;
  connectionKinds: string[];
  actionCount: number;
  /** The actions as JSON texts, each of which is a list. The actions are valid, and their ids are unique. */
  lists: readonly string[];
}

export type ServiceRecord = InferResult<ReturnType<typeof records>>[number];

/** `gone`: there is no such project. `too_many`: the project has `MOST_SERVICES`. */
export function insertService(
  db: Db,
  projectId: number,
  fields: ServiceFields,
): Promise<ServiceRecord | 'gone' | 'too_many'> {
  return inTransaction(db, async (transaction) => {
    if (!(await lockProject(transaction, projectId))) return 'gone';
    const { total } = await transaction
      .selectFrom('services')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where('project_id', '=', projectId)
      .executeTakeFirstOrThrow();
    if (total >= MOST_SERVICES) return 'too_many';
    const { id } = await transaction
      .insertInto('services')
      .values({ project_id: projectId, ...toColumns(fields) })
      .returning('id')
      .executeTakeFirstOrThrow();
    await insertActions(transaction, id, fields.lists);
    return records(transaction).where('id', '=', id).executeTakeFirstOrThrow();
  });
}

/** Replaces the fields and all actions of the service. Returns undefined if the project has no such service. */
export function replaceService(
  db: Db,
  { projectId, id }: { projectId: number; id: string },
  fields: ServiceFields,
): Promise<ServiceRecord | undefined> {
  return inTransaction(db, async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('services')
      .set({ ...toColumns(fields), updated_at: sql<Date>`now()` })
      .where('project_id', '=', projectId)
      .where('id', '=', id)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return undefined;
    await transaction.deleteFrom('service_actions').where('service_id', '=', id).execute();
    await insertActions(transaction, id, fields.lists);
    return records(transaction).where('id', '=', id).executeTakeFirstOrThrow();
  });
}

function toColumns({
  name,
  description,
  version,
  documentationUrl,
  connectionKinds,
  actionCount,
  lists,
}: ServiceFields) {
  return {
    name,
    description,
    version,
    documentation_url: documentationUrl,
    connection_kinds: connectionKinds,
    action_count: actionCount,
    bytes: lists.reduce((sum, list) => sum + Buffer.byteLength(list), 0),
  };
}

async function insertActions(transaction: Db, serviceId: string, lists: readonly string[]): Promise<void> {
  for (const list of lists) {
    await sql`
      INSERT INTO service_actions (service_id, id, position, title, description, method, path, server, has_side_effects,
        fields, body, result, documentation_url)
      SELECT ${serviceId}::uuid, id, position, title, description, method, path, server, has_side_effects, fields, body,
        nullif(result::text, 'null')::json, documentation_url
      FROM json_to_recordset(${list}::json) AS action(id text, position integer, title text, description text,
        method text, path text, server text, has_side_effects boolean, fields json, body json, result json,
        documentation_url text)`.execute(transaction);
  }
}

/** Returns false if the project has no such service. */
export async function deleteService(db: Db, projectId: number, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('services')
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Locks the service until the end of the transaction. */
export async function lockService(transaction: Db, projectId: number, id: string): Promise<boolean> {
  const found = await transaction
    .selectFrom('services')
    .select('id')
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Returns the services of a project by name; with `search` those that have each of its words in their name or
 * description, or each in their name or the title of the same action. The caller must have checked access.
 */
export function listServices(db: Db, projectId: number, search?: string): Promise<ServiceRecord[]> {
  const patterns = search === undefined ? undefined : toPatterns(search);
  return records(db)
    .where('project_id', '=', projectId)
    .where(
      patterns === undefined
        ? sql<boolean>`true`
        : sql<boolean>`(services.name || ' ' || services.description ILIKE ALL (${patterns}::text[]) OR EXISTS (
            SELECT FROM service_actions
            WHERE service_id = services.id AND services.name || ' ' || title ILIKE ALL (${patterns}::text[])))`,
    )
    .orderBy('name')
    .orderBy('id')
    .limit(MOST_SERVICES)
    .execute();
}

/** Returns a service that the user may see. */
export function findService(db: Db, id: string, reach: Reach): Promise<ServiceRecord | undefined> {
  return records(db)
    .where('id', '=', id)
    .where(isInReach('services.project_id', reach))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('project_members')
          .innerJoin('projects', 'projects.id', 'project_members.project_id')
          .select('project_members.user_id')
          .whereRef('project_members.project_id', '=', 'services.project_id')
          .where('project_members.user_id', '=', reach.userId)
          .where('projects.deleted_at', 'is', null),
      ),
    )
    .executeTakeFirst();
}

export type ActionRecord = InferResult<ReturnType<typeof actions>>[number];

/**
 * Returns the actions in the order of the document; with `search` those that have each of its words in their id, title,
 * path or description.
 */
export async function pageOfActions(
  db: Db,
  {
    serviceId,
    search,
    limit,
    offset,
  }: { serviceId: string; search?: string | undefined; limit: number; offset: number },
): Promise<{ total: number; actions: ActionRecord[] }> {
  const isFound =
    search === undefined
      ? sql<boolean>`true`
      : sql<boolean>`concat_ws(' ', id, title, path, description) ILIKE ALL (${toPatterns(search)}::text[])`;
  const { total } = await db
    .selectFrom('service_actions')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('service_id', '=', serviceId)
    .where(isFound)
    .executeTakeFirstOrThrow();
  const found = await actions(db)
    .where('service_id', '=', serviceId)
    .where(isFound)
    .orderBy('position')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, actions: found };
}

export function findServiceAction(db: Db, serviceId: string, id: string): Promise<ActionRecord | undefined> {
  return actions(db).where('service_id', '=', serviceId).where('id', '=', id).executeTakeFirst();
}

export type FactsRecord = InferResult<ReturnType<typeof facts>>[number];

/**
 * Returns the actions among `names` that services of the project have. Omits actions whose fields exceed
 * `MOST_BYTES_OF_ACTION`, and all actions after the one whose fields bring the total above `mostBytes`, because a
 * caller may name more actions than fit into the memory of the process.
 */
export async function findActionsOf(
  db: Db,
  projectId: number,
  names: readonly { service: string; id: string }[],
  mostBytes: number,
): Promise<(FactsRecord & { serviceId: string })[]> {
  if (names.length === 0) return [];
  const wanted = JSON.stringify(names);
  const bytes = bytesOf('fields');
  const named = facts(db)
    .innerJoin('services', 'services.id', 'service_actions.service_id')
    .select('service_actions.service_id as serviceId')
    .select(
      sql<number>`sum(${bytes}) OVER (ORDER BY service_actions.service_id, service_actions.id) - ${bytes}`.as(
        'bytesBefore',
      ),
    )
    .where('services.project_id', '=', projectId)
    .where(bytes, '<=', MOST_BYTES_OF_ACTION)
    .where(
      sql<boolean>`(service_actions.service_id::text, service_actions.id) IN (
        SELECT service, id FROM json_to_recordset(${wanted}::json) AS named(service text, id text))`,
    );
  return db.selectFrom(named.as('named')).selectAll().where('bytesBefore', '<=', mostBytes).execute();
}

/** Returns the ids among `ids` (in lower case) that are services of the project, with their names. */
export function findServiceNames(db: Db, projectId: number, ids: readonly string[]) {
  return db
    .selectFrom('services')
    .select(['id', 'name'])
    .where('project_id', '=', projectId)
    .where(sql<boolean>`id::text = ANY (${ids})`)
    .orderBy('name')
    .execute();
}

/** Returns services by name, because imports refer to them by name. */
export function findServicesByName(db: Db, projectId: number, names: readonly string[]) {
  return db
    .selectFrom('services')
    .select(['id', 'name'])
    .where('project_id', '=', projectId)
    .where('name', '=', sql<string>`ANY (${names})`)
    .orderBy('created_at')
    .execute();
}

/** Lists up to `limit` workflows whose drawings name the service, ordered by id. `total` counts all such workflows. */
export function workflowsWithService(db: Db, projectId: number, id: string, limit: number) {
  return db
    .selectFrom('workflows')
    .select((eb) => ['id', 'title', eb.fn.countAll<number>().over().as('total')])
    .where('project_id', '=', projectId)
    .where('archived_at', 'is', null)
    .where(sql<boolean>`service_ids @> ARRAY[${id}::text]`)
    .orderBy('id')
    .limit(limit)
    .execute();
}

const MOST_WORDS = 10;

/** Returns the words of a search, at most `MOST_WORDS`. All of them must occur in a match. */
export function wordsOf(search: string): string[] {
  return search
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, MOST_WORDS);
}

function toPatterns(search: string): string[] {
  return wordsOf(search).map((word) => `%${word.replace(/[\\%_]/g, String.raw`\$&`)}%`);
}

function records(db: Db) {
  return db
    .selectFrom('services')
    .select(['services.id', 'services.name', 'services.description', 'services.version'])
    .select(['services.documentation_url as documentationUrl', 'services.connection_kinds as connectionKinds'])
    .select(['services.action_count as actionCount', 'services.project_id as projectId']);
}

function actions(db: Db) {
  return facts(db)
    .select(
      sql<JsonObject | null>`CASE WHEN ${bytesOf('result')} <= ${MOST_BYTES_OF_ACTION} THEN service_actions.result END`.as(
        'result',
      ),
    )
    .select('service_actions.documentation_url');
}

function bytesOf(column: 'fields' | 'result') {
  return sql<number>`octet_length(${sql.ref(`service_actions.${column}`)}::text)`;
}

const NO_FIELDS = JSON.stringify({ type: 'object', properties: {}, required: [] });

/** The parts of an action that a node stores. */
function facts(db: Db) {
  return db
    .selectFrom('service_actions')
    .select(['service_actions.id', 'service_actions.title', 'service_actions.description', 'service_actions.method'])
    .select(['service_actions.path', 'service_actions.server', 'service_actions.has_side_effects'])
    .select(
      sql<JsonObject>`CASE WHEN ${bytesOf('fields')} <= ${MOST_BYTES_OF_ACTION} THEN service_actions.fields
        ELSE ${NO_FIELDS}::json END`.as('fields'),
    )
    .select('service_actions.body');
}
