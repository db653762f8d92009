import { sql, type RawBuilder } from 'kysely';

/** A request may touch all projects of its user, or only one if the API key is restricted to it. */
export interface Reach {
  userId: number;
  /** All projects of the user are reached if it is undefined. */
  projectId?: number | undefined;
}

/**
 * A condition on a column with a project's id. Its text is the same with and without a restriction, so that prepared
 * statements may contain it.
 */
export function isInReach(column: string, { projectId }: Reach): RawBuilder<boolean> {
  const id = sql.ref(column);
  return sql<boolean>`${id} = coalesce(${projectId ?? null}::integer, ${id})`;
}
