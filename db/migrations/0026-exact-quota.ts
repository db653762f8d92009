import { sql, type Kysely } from 'kysely';

/**
 * The limit on what a project stores counts what has been committed, folded or not: only requests that have not been
 * answered yet may pass it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** A project with so much room is not looked at more closely for a change as small as this. */
const AMPLE_ROOM = 2 ** 30;
const SMALL_CHANGE = 2 ** 20;

const statements = [
  `CREATE INDEX stored_byte_changes_project ON stored_byte_changes (project_id)`,
  // One statement reads both sums, because a fold between two statements would move bytes from one to the other. Adding
  // up what is not folded costs more the busier the project is. A fold comes every few seconds, and large changes are
  // always counted exactly, so small ones cannot use up an ample room before it.
  `CREATE OR REPLACE FUNCTION refuse_beyond_quota(of_project integer, added bigint) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    room bigint;
  BEGIN
    IF added <= 0 OR coalesce(current_setting('workflow_service.is_sealing', true), '') = 'on' THEN RETURN; END IF;
    SELECT bytes - added - coalesce((SELECT kept.bytes FROM stored_bytes kept WHERE project_id = of_project), 0)
    INTO room FROM stored_bytes_limit;
    IF room IS NULL OR (room >= ${AMPLE_ROOM} AND added < ${SMALL_CHANGE}) THEN RETURN; END IF;
    SELECT bytes - added - coalesce((SELECT kept.bytes FROM stored_bytes kept WHERE project_id = of_project), 0)
      - coalesce((SELECT sum(recent.bytes) FROM stored_byte_changes recent WHERE project_id = of_project), 0)
    INTO room FROM stored_bytes_limit;
    IF room < 0 THEN
      RAISE EXCEPTION 'the project would store more than it may' USING ERRCODE = 'QB413';
    END IF;
  END $$`,
];
