// Categories of workflows and their subcategories.
import {
  createCategory,
  deleteCategory,
  findCategory,
  listCategories,
} from '../../db/workflows/categories-repository.js';
import { AdminError, type AdminContext } from './context.js';
import { creation, recorded } from './recorded.js';

/** Adds a category, or a subcategory of `parent`. There is no third level. */
export async function addCategory(context: AdminContext, name: string, parent?: number): Promise<object> {
  const { db } = context;
  if (name.trim() === '') throw new AdminError('--name must not be empty.');
  if (parent !== undefined) {
    const above = await findCategory(db, parent);
    if (above === undefined) throw new AdminError(`There is no category ${parent}.`);
    if (above.parent !== null) throw new AdminError(`Category ${parent} is itself a subcategory.`);
  }
  return recorded(context, { action: 'category.created', type: 'category', ...creation }, (trx) =>
    createCategory(trx, name.trim(), parent ?? null),
  );
}

export function showCategories({ db }: AdminContext): Promise<object[]> {
  return listCategories(db);
}

/** Deletes the category and removes it from all workflows. Refuses if it has subcategories. */
export function removeCategory(context: AdminContext, id: number): Promise<object> {
  return recorded(context, { action: 'category.deleted', type: 'category', key: { id } }, async (trx) => {
    const outcome = await deleteCategory(trx, id);
    if (outcome === 'not_found') throw new AdminError(`There is no category ${id}.`);
    if (outcome === 'has_children') throw new AdminError(`Category ${id} has subcategories: delete them first.`);
    return { id, deleted: true };
  });
}
