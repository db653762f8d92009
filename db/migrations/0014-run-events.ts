import { sql, type Kysely } from 'kysely';

/** The order of what readers see of a run, and who wants to be told of it. ADR 16. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...watches, ...events]) await sql.raw(statement).execute(db);
}

const watches = [
  // Unlogged, because a crash ends the connections of those who watch, and they register again. A change of a run looks
  // for its rows here, so the table is kept small, and its vacuum must not wait for fifty dead rows.
  `CREATE UNLOGGED TABLE run_watches (
    run_id uuid NOT NULL,
    listener uuid NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (run_id, listener)
  ) WITH (fillfactor = 70)`,
];

const events = [
  // Neither references the run: the lock of a foreign key on the run's row would wait for the end of the run, and make
  // that wait.
  `CREATE TABLE run_events (
    run_id uuid NOT NULL,
    version bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('run', 'node', 'approval')),
    path text NOT NULL DEFAULT '',
    subject text NOT NULL DEFAULT '',
    status text NOT NULL,
    PRIMARY KEY (run_id, version)
  )`,
  // Each statement of the function has a snapshot of its own: those of the second are younger than the lock, so that what
  // is not in the table yet is in nobody's hands. The versions of new events end at the number that polls of the same
  // snapshot get, and begin behind every number that polls of an earlier one can have got (db/runs/run-version.ts).
  `CREATE FUNCTION order_run_events(asked uuid[]) RETURNS TABLE (of_run uuid, last_version bigint) LANGUAGE plpgsql AS $$
  DECLARE
    lock_key bigint;
  BEGIN
    FOR lock_key IN SELECT DISTINCT hashtextextended(given::text, 16) FROM unnest(asked) AS given ORDER BY 1 LOOP
      PERFORM pg_advisory_xact_lock(lock_key);
    END LOOP;
    WITH run AS MATERIALIZED (
      SELECT id, status, run_started_at IS NOT NULL AS is_started,
        1000000 * (1 + (run_started_at IS NOT NULL)::integer + (status <> 'In Progress')::integer
          + (SELECT count(*) + count(*) FILTER (WHERE node.status <> 'in progress')
            FROM node_results AS node WHERE node.run_id = runs.id)
          + (SELECT count(*) + count(*) FILTER (WHERE request.status <> 'pending')
            FROM approval_requests AS request WHERE request.run_id = runs.id)) AS reached,
        coalesce((SELECT max(version) FROM run_events AS known WHERE known.run_id = runs.id), 0) AS last
      FROM runs WHERE id = ANY (asked)
    ), news AS (
      SELECT run.id AS run_id, run.reached, run.last, fact.* FROM run CROSS JOIN LATERAL (
        SELECT 'run' AS kind, '' AS path, '' AS subject, run.status,
          CASE run.status WHEN 'In Progress' THEN 0 ELSE 2 END AS place, NULL::timestamptz AS moment
        WHERE run.is_started OR run.status <> 'In Progress'
        UNION ALL
        SELECT 'node', path, node_id, node_results.status, 1, coalesce(finished_at, started_at)
        FROM node_results WHERE node_results.run_id = run.id
        UNION ALL
        SELECT 'approval', path, request_id, 'pending', 1, created_at
        FROM approval_requests WHERE approval_requests.run_id = run.id
        UNION ALL
        SELECT 'approval', path, request_id, approval_requests.status, 1, coalesce(decided_at, expires_at)
        FROM approval_requests WHERE approval_requests.run_id = run.id AND approval_requests.status <> 'pending'
      ) AS fact
      WHERE NOT EXISTS (
        SELECT FROM run_events AS known
        WHERE known.run_id = ANY (asked) AND known.run_id = run.id AND known.kind = fact.kind
          AND known.path = fact.path AND known.subject = fact.subject AND known.status = fact.status)
    )
    INSERT INTO run_events (run_id, version, kind, path, subject, status)
    SELECT run_id,
      greatest(reached, last + count(*) OVER of_its_run) - count(*) OVER of_its_run + row_number() OVER in_order,
      kind, path, subject, status
    FROM news
    WINDOW of_its_run AS (PARTITION BY run_id),
      in_order AS (PARTITION BY run_id ORDER BY place, moment, kind, path, subject, status <> 'pending');
    RETURN QUERY SELECT given, coalesce((SELECT max(version) FROM run_events AS known WHERE known.run_id = given), 0)
      FROM unnest(asked) AS given;
  END $$`,
];
