// Categories of workflows, two levels deep. `admin` writes the categories; the API assigns them to workflows.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import { anyOf } from '../core/statement.js';

interface Category {
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

/** Each category is followed by its subcategories; both are ordered by name. */
export async function listCategories(db: Db): Promise<Category[]> {
  const { rows } = await sql<Category>`
    SELECT category.id, category.name, category.parent_id AS parent
    FROM categories category LEFT JOIN categories parent ON parent.id = category.parent_id
    ORDER BY coalesce(parent.name, category.name), coalesce(parent.id, category.id), category.parent_id IS NOT NULL,
      category.name, category.id`.execute(db);
  return rows;
}

/** Deletes the category and its assignments. The lock on its row keeps out new subcategories and assignments. */
export function deleteCategory(db: Db, id: number): Promise<'deleted' | 'not_found' | 'has_children'> {
  return inTransaction(db, async (transaction) => {
    const found = transaction.selectFrom('categories').select('id');
    if ((await found.where('id', '=', id).forUpdate().executeTakeFirst()) === undefined) return 'not_found';
    if ((await found.where('parent_id', '=', id).limit(1).executeTakeFirst()) !== undefined) return 'has_children';
    await transaction.deleteFrom('workflow_categories').where('category_id', '=', id).execute();
    await transaction.deleteFrom('categories').where('id', '=', id).execute();
    return 'deleted';
  });
}

/**
 * Replaces the workflow's categories of one level. Returns the ids that do not belong to that level; if there are any,
 * nothing is changed. The lock prevents a concurrent deletion of the categories.
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
  const found = ids.length === 0 ? [] : await ofLevel.where('id', '=', anyOf(ids)).forKeyShare().execute();
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

export async function copyCategories(db: Db, fromWorkflowId: number, toWorkflowId: number): Promise<void> {
  await sql`
    INSERT INTO workflow_categories (workflow_id, category_id)
    SELECT ${toWorkflowId}, category.id FROM workflow_categories given JOIN categories category ON category.id = given.category_id
    WHERE given.workflow_id = ${fromWorkflowId} FOR KEY SHARE OF category`.execute(db);
}

/** Columns for a statement on `workflows`. */
export const categoryIds = idsOfLevel(sql`IS NULL`).as('category_ids');
export const subcategoryIds = idsOfLevel(sql`IS NOT NULL`).as('subcategory_ids');

function idsOfLevel(isLevel: RawBuilder<unknown>): RawBuilder<number[]> {
  return sql<number[]>`ARRAY(
    SELECT category.id FROM workflow_categories given JOIN categories category ON category.id = given.category_id
    WHERE given.workflow_id = workflows.id AND category.parent_id ${isLevel} ORDER BY category.id)`;
}
