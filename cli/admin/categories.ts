// Categories of workflows and their subcategories.
import {
  createCategory,
  deleteCategory,
  findCategory,
  listCategories,
} from '../../db/workflows/categories-repository.js';
import { AdminError, type AdminContext } from './context.js';

/** With `parent` it adds a subcategory; there is no third level. */
export async function addCategory({ db }: AdminContext, name: string, parent?: number): Promise<object> {
  if (name.trim() === '') throw new AdminError('--name must not be empty.');
  if (parent !== undefined) {
    const above = await findCategory(db, parent);
    if (above === undefined) throw new AdminError(`There is no category ${parent}.`);
    if (above.parent !== null) throw new AdminError(`Category ${parent} is itself a subcategory.`);
  }
  return createCategory(db, name.trim(), parent ?? null);
}

export function showCategories({ db }: AdminContext): Promise<object[]> {
  return listCategories(db);
}

/** Takes the category off all workflows. One with subcategories stays. */
export async function removeCategory({ db }: AdminContext, id: number): Promise<object> {
  const outcome = await deleteCategory(db, id);
  if (outcome === 'not_found') throw new AdminError(`There is no category ${id}.`);
  if (outcome === 'has_children') throw new AdminError(`Category ${id} has subcategories: delete them first.`);
  return { id, deleted: true };
}
