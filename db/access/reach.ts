import { sql, type RawBuilder } from 'kysely';

/** The projects that a request may touch: all of its user, or one if the API key is restricted to it. */
export interface Reach {
  userId: number;
  /** Undefined for all projects of the user. */
  projectId?: number | undefined;
}

/**
 * A condition on a column with a project's id. Its text does not depend on the restriction, so prepared
 * statements may contain it.
 */
export function isInReach(column: string, { projectId }: Reach): RawBuilder<boolean> {
  const id = sql.ref(column);
  return sql<boolean>`${id} = coalesce(${projectId ?? null}::integer, ${id})`;
}

/**
 * A condition on the row of `runs` with the alias `run`: a run of the assistant in the editor is visible only to the
 * user who started it, because it contains their conversation and their draft. `userId` is a value or a column.
 */
export function isVisibleTo(run: string, userId: number | RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${run}.purpose`)} <> 'assistant' OR ${sql.ref(`${run}.user_id`)} = ${userId})`;
}
