// Categories of workflows, two levels deep. Writer of the categories themselves: `admin`; of who has which: the API.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';

export interface Category {
  id: number;
  name: string;
  parent: number | null;
}

export type CategoryLevel = 'categories' | 'subcategories';

export async function createCategory(db: Db, name: string, parent: number | null): Promise<Category> {
  return db
    .insertInto('categories')
    .values({ name, parent_id: parent })
    .returning(['id', 'name', 'parent_id as parent'])
    .executeTakeFirstOrThrow();
}

export function findCategory(db: Db, id: number): Promise<Category | undefined> {
  return db
    .selectFrom('categories')
    .select(['id', 'name', 'parent_id as parent'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/**
 * Gives the workflow these categories of one level in place of those that it had of it. Returns the ids that are none
 * of that level; with any, nothing is changed.
 */
export async function replaceCategories(
  db: Db,
  workflowId: number,
  level: CategoryLevel,
  ids: number[],
): Promise<number[]> {
  const ofLevel = db
    .selectFrom('categories')
    .select('id')
    .where('parent_id', level === 'categories' ? 'is' : 'is not', null);
  const found = ids.length === 0 ? [] : await ofLevel.where('id', 'in', ids).execute();
  const known = new Set(found.map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) return unknown;
  await db
    .deleteFrom('workflow_categories')
    .where('workflow_id', '=', workflowId)
    .where('category_id', 'in', ofLevel)
    .execute();
  const rows = ids.map((id) => ({ workflow_id: workflowId, category_id: id }));
  if (rows.length > 0) await db.insertInto('workflow_categories').values(rows).execute();
  return [];
}

/** A copy of a workflow starts in the categories of its source. */
export async function copyCategories(db: Db, fromWorkflowId: number, toWorkflowId: number): Promise<void> {
  await sql`
    INSERT INTO workflow_categories (workflow_id, category_id)
    SELECT ${toWorkflowId}, category_id FROM workflow_categories WHERE workflow_id = ${fromWorkflowId}`.execute(db);
}

/** Columns of a statement on `workflows`. */
export const categoryIds = idsOfLevel(sql`IS NULL`).as('category_ids');
export const subcategoryIds = idsOfLevel(sql`IS NOT NULL`).as('subcategory_ids');

function idsOfLevel(isLevel: RawBuilder<unknown>): RawBuilder<number[]> {
  return sql<number[]>`ARRAY(
    SELECT category.id FROM workflow_categories given JOIN categories category ON category.id = given.category_id
    WHERE given.workflow_id = workflows.id AND category.parent_id ${isLevel} ORDER BY category.id)`;
}
