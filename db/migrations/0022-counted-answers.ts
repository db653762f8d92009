import { sql, type Kysely } from 'kysely';

/**
 * Approvals and answers that count and settle nothing are changes of a run, too (extensions, section 2), and so are runs that
 * tool calls of an agent start and wait for. Wakes are found again after their wait was closed, for a Temporal that was
 * restored.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...counts, ...events, ...wakes]) await sql.raw(statement).execute(db);
}

const counts = [
  // How many answers were counted and have not settled the task, as `approval_requests` has it.
  `ALTER TABLE human_tasks ADD COLUMN counted integer NOT NULL DEFAULT 0`,
  `UPDATE human_tasks AS task SET counted = given.answers - (task.status = 'answered')::integer
    FROM (SELECT task_id, count(*) AS answers FROM human_answers GROUP BY task_id) AS given
    WHERE given.task_id = task.task_id`,
];

const events = [
  // Of a request or a task that is pending: how many decisions or answers had been counted. Of an agent: which of its tool
  // calls has started its run (odd), or has waited for it (even).
  `ALTER TABLE run_events ADD COLUMN counted integer NOT NULL DEFAULT 0`,
  // As in 0020-human-tasks.ts, with what was counted among the facts.
  `CREATE OR REPLACE FUNCTION order_run_events(asked uuid[]) RETURNS TABLE (of_run uuid, last_version bigint) LANGUAGE plpgsql AS $$
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
          + (SELECT count(*) + count(*) FILTER (WHERE request.status <> 'pending') + coalesce(sum(request.counted), 0)
            FROM approval_requests AS request WHERE request.run_id = runs.id)
          + (SELECT count(*) + count(*) FILTER (WHERE task.status <> 'pending') + coalesce(sum(task.counted), 0)
            FROM human_tasks AS task WHERE task.run_id = runs.id)
          + (SELECT count(*) + count(started.closed_at)
            FROM waits AS started WHERE started.run_id = runs.id AND started.call > 0)) AS reached,
        coalesce((SELECT max(version) FROM run_events AS known WHERE known.run_id = runs.id), 0) AS last
      FROM runs WHERE id = ANY (asked)
    ), news AS (
      SELECT run.id AS run_id, run.reached, run.last, fact.* FROM run CROSS JOIN LATERAL (
        SELECT 'run' AS kind, '' AS path, '' AS subject, run.status,
          CASE run.status WHEN 'In Progress' THEN 0 ELSE 2 END AS place, NULL::timestamptz AS moment,
          0 AS counted
        WHERE run.is_started OR run.status <> 'In Progress'
        UNION ALL
        SELECT 'node', path, node_id, node_results.status, 1, coalesce(finished_at, started_at), 0
        FROM node_results WHERE node_results.run_id = run.id
        UNION ALL
        SELECT 'approval', path, request_id, 'pending', 1, created_at, 0
        FROM approval_requests WHERE approval_requests.run_id = run.id
        UNION ALL
        SELECT 'approval', path, request_id, approval_requests.status, 1, coalesce(decided_at, expires_at), 0
        FROM approval_requests WHERE approval_requests.run_id = run.id AND approval_requests.status <> 'pending'
        UNION ALL
        SELECT 'approval', path, request_id, 'pending', 1, coalesce((
          SELECT made.decided_at FROM approval_decisions AS made WHERE made.request_id = request.request_id
          ORDER BY made.decided_at OFFSET number - 1 LIMIT 1), request.decided_at), number
        FROM approval_requests AS request CROSS JOIN generate_series(1, request.counted) AS number
        WHERE request.run_id = run.id
        UNION ALL
        SELECT 'human_task', path, task_id::text, 'pending', 1, created_at, 0
        FROM human_tasks WHERE human_tasks.run_id = run.id
        UNION ALL
        SELECT 'human_task', path, task_id::text, human_tasks.status, 1, settled_at, 0
        FROM human_tasks WHERE human_tasks.run_id = run.id AND human_tasks.status <> 'pending'
        UNION ALL
        SELECT 'human_task', path, task_id::text, 'pending', 1, (
          SELECT given.answered_at FROM human_answers AS given WHERE given.task_id = task.task_id
          ORDER BY given.answered_at OFFSET number - 1 LIMIT 1), number
        FROM human_tasks AS task CROSS JOIN generate_series(1, task.counted) AS number
        WHERE task.run_id = run.id
        UNION ALL
        SELECT 'node', path, node_id, 'in progress', 1, child.created_at, 2 * call - 1
        FROM waits JOIN runs AS child ON child.id = waits.child_run_id
        WHERE waits.run_id = run.id AND call > 0
        UNION ALL
        SELECT 'node', path, node_id, 'in progress', 1, closed_at, 2 * call
        FROM waits WHERE waits.run_id = run.id AND call > 0 AND closed_at IS NOT NULL
      ) AS fact
      WHERE NOT EXISTS (
        SELECT FROM run_events AS known
        WHERE known.run_id = ANY (asked) AND known.run_id = run.id AND known.kind = fact.kind
          AND known.path = fact.path AND known.subject = fact.subject AND known.status = fact.status
          AND known.counted = fact.counted)
    )
    INSERT INTO run_events (run_id, version, kind, path, subject, status, counted)
    SELECT run_id,
      greatest(reached, last + count(*) OVER of_its_run) - count(*) OVER of_its_run + row_number() OVER in_order,
      kind, path, subject, status, counted
    FROM news
    WINDOW of_its_run AS (PARTITION BY run_id),
      in_order AS (PARTITION BY run_id ORDER BY place, moment, kind, path, subject, status <> 'pending', counted);
    RETURN QUERY SELECT given, coalesce((SELECT max(version) FROM run_events AS known WHERE known.run_id = given), 0)
      FROM unnest(asked) AS given;
  END $$`,
];

const wakes = [
  `DROP INDEX waits_undelivered`,
  `CREATE INDEX waits_undelivered ON waits (answered_at) WHERE signalled_at IS NULL AND answered_at IS NOT NULL`,
];
