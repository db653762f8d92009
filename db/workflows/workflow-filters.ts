// The catalog and the marketplace filter and order in the same way.
import { sql, type ExpressionBuilder, type RawBuilder } from 'kysely';
import type { Tables } from '../core/tables.js';

export type CatalogOrdering = `${'' | '-'}${'last_run_at' | 'total_cost' | 'created_at'}`;

export interface WorkflowFilters {
  /** Workflows with any of these are listed; all are if it is undefined. */
  categories: number[] | undefined;
  subcategories: number[] | undefined;
  /** Workflows with any of these are listed. */
  languages: string[] | undefined;
}

/** The condition stands in the `where` of a statement on `workflows`. */
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

/** A subquery of its own, not one a row: it is evaluated once. */
function hasCategory(ids: number[], isLevel: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`workflows.id IN (
    SELECT given.workflow_id FROM workflow_categories given JOIN categories category ON category.id = given.category_id
    WHERE category.id = ANY (${ids}::integer[]) AND category.parent_id ${isLevel})`;
}

/** `ORDER BY` of rows that have `sort_key` and `id`. What never happened stands last in either direction. */
export function bySortKey(ordering: string): RawBuilder<unknown> {
  return ordering.startsWith('-') ? sql`sort_key DESC NULLS LAST, id DESC` : sql`sort_key ASC NULLS LAST, id ASC`;
}
