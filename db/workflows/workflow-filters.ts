// Filters and orders that the catalog and the marketplace share.
import { sql, type ExpressionBuilder, type RawBuilder } from 'kysely';
import type { Tables } from '../core/tables.js';

export type CatalogOrdering = `${'' | '-'}${'last_run_at' | 'total_cost' | 'created_at'}`;

export interface WorkflowFilters {
  /** Any of these must match; undefined matches all. */
  categories: number[] | undefined;
  subcategories: number[] | undefined;
  /** Any of these must match. */
  languages: string[] | undefined;
}

/** A condition for the `where` of a statement on `workflows`. */
export function matchesFilters(filters: WorkflowFilters) {
  return (eb: ExpressionBuilder<Tables, 'workflows'>) => {
    const conditions: RawBuilder<boolean>[] = [];
    const { categories, subcategories, languages } = filters;
    if (categories !== undefined) conditions.push(hasCategory(categories, sql`IS NULL`));
    if (subcategories !== undefined) conditions.push(hasCategory(subcategories, sql`IS NOT NULL`));
    if (languages !== undefined) conditions.push(sql<boolean>`workflows.available_languages && ${languages}::text[]`);
    return eb.and(conditions);
  };
}

/** An uncorrelated subquery, so that it is evaluated once and not for each row. */
function hasCategory(ids: number[], isLevel: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`workflows.id IN (
    SELECT given.workflow_id FROM workflow_categories given JOIN categories category ON category.id = given.category_id
    WHERE category.id = ANY (${ids}::integer[]) AND category.parent_id ${isLevel})`;
}

/** `ORDER BY` for rows with `sort_key` and `id`. Rows without a `sort_key` come last in both directions. */
export function bySortKey(ordering: string): RawBuilder<unknown> {
  return ordering.startsWith('-') ? sql`sort_key DESC NULLS LAST, id DESC` : sql`sort_key ASC NULLS LAST, id ASC`;
}
