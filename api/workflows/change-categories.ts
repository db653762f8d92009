import { replaceCategories, type CategoryLevel } from '../../db/workflows/categories-repository.js';
import type { Db } from '../../db/core/client.js';
import { invalidFields, type FieldErrors } from '../http/errors.js';
import { MAX_ID } from '../http/path-ids.js';

/** Changes only the levels that are present. Throws a 400 that names ids that are no categories of their level. */
export async function changeCategories(
  transaction: Db,
  workflowId: number,
  changes: Partial<Record<CategoryLevel, number[] | undefined>>,
): Promise<void> {
  const errors: FieldErrors = {};
  for (const level of ['categories', 'subcategories'] as const) {
    const ids = changes[level];
    if (ids === undefined) continue;
    const impossible = ids.filter((id) => id < 1 || id > MAX_ID);
    const unknown = impossible.length > 0 ? impossible : await replaceCategories(transaction, workflowId, level, ids);
    if (unknown.length > 0) errors[level] = unknown.map((id) => `Invalid pk "${id}" - object does not exist.`);
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}
