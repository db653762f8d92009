-- The events of runs that have readers (docs/adr/0016-versions-counted-not-written.md).

-- Returns the facts for readers at one path, which is empty outside loops, or names an iteration. `counted`
-- distinguishes facts with the same status. It is the number of the decision or answer. For the end of a wait of a
-- node, it is twice the number of the call; for the start of the wait, it is one less or more (always odd).
CREATE OR REPLACE FUNCTION facts_at(asked uuid, at_path text)
  RETURNS TABLE (kind text, path text, subject text, status text, moment timestamptz, counted integer)
  LANGUAGE sql STABLE AS $$
  SELECT 'node', path, node_id, status, coalesce(finished_at, started_at), 0
  FROM node_results WHERE run_id = asked AND path = at_path
  UNION ALL
  SELECT 'approval', path, request_id, 'pending', created_at, 0
  FROM approval_requests WHERE run_id = asked AND path = at_path
  UNION ALL
  SELECT 'approval', path, request_id, status, coalesce(decided_at, expires_at), 0
  FROM approval_requests WHERE run_id = asked AND path = at_path AND status <> 'pending'
  UNION ALL
  SELECT 'approval', path, request_id, 'pending', coalesce((
    SELECT made.decided_at FROM approval_decisions AS made WHERE made.request_id = request.request_id
    ORDER BY made.decided_at OFFSET number - 1 LIMIT 1), request.decided_at), number
  FROM approval_requests AS request CROSS JOIN generate_series(1, request.counted) AS number
  WHERE request.run_id = asked AND request.path = at_path
  UNION ALL
  SELECT 'human_task', path, task_id::text, 'pending', created_at, 0
  FROM human_tasks WHERE run_id = asked AND path = at_path
  UNION ALL
  SELECT 'human_task', path, task_id::text, status, settled_at, 0
  FROM human_tasks WHERE run_id = asked AND path = at_path AND status <> 'pending'
  UNION ALL
  SELECT 'human_task', path, task_id::text, 'pending', (
    SELECT given.answered_at FROM human_answers AS given WHERE given.task_id = task.task_id
    ORDER BY given.answered_at OFFSET number - 1 LIMIT 1), number
  FROM human_tasks AS task CROSS JOIN generate_series(1, task.counted) AS number
  WHERE task.run_id = asked AND task.path = at_path
  UNION ALL
  SELECT 'node', path, node_id, 'in progress', child.created_at, 2 * call - 1
  FROM waits JOIN runs AS child ON child.id = waits.child_run_id
  WHERE waits.run_id = asked AND path = at_path AND call > 0
  UNION ALL
  SELECT 'node', path, node_id, 'in progress', closed_at, 2 * call
  FROM waits WHERE run_id = asked AND path = at_path AND call > 0 AND closed_at IS NOT NULL
  UNION ALL
  SELECT 'node', path, node_id, 'in progress', started_at, 2 * call + 1
  FROM waits WHERE run_id = asked AND path = at_path AND call < 0
  UNION ALL
  SELECT 'node', path, node_id, 'in progress', closed_at, 2 * call
  FROM waits WHERE run_id = asked AND path = at_path AND call < 0 AND closed_at IS NOT NULL
$$;

-- Stores the new events of some runs with their order. Each statement of the function has its own snapshot. Snapshots
-- after the locks are newer than the locks, so an event that is not in the table yet is in no other transaction. The
-- versions of new events end at the number that polls of the same snapshot get, and start after every number that polls
-- of an earlier snapshot can have got (db/watches/run-version.ts). The function reads only places that may have changed
-- since the last call: nodes outside loops, and iterations that are not in `announced_iterations`. After the end of the
-- run it reads all iterations once more, and never again.
CREATE OR REPLACE FUNCTION order_run_events(asked uuid[]) RETURNS TABLE (of_run uuid, last_version bigint)
  LANGUAGE plpgsql AS $$
DECLARE
  lock_key bigint;
BEGIN
  FOR lock_key IN SELECT DISTINCT hashtextextended(given::text, 16) FROM unnest(asked) AS given ORDER BY 1 LOOP
    PERFORM pg_advisory_xact_lock(lock_key);
  END LOOP;
  WITH RECURSIVE run AS MATERIALIZED (
    SELECT id, status, status <> 'In Progress' AS is_over, run_started_at IS NOT NULL AS is_started,
      1000000 * (1 + (run_started_at IS NOT NULL)::integer + (status <> 'In Progress')::integer
        + (SELECT counted.changes FROM run_changes(runs.id) AS counted)) AS reached,
      coalesce((SELECT max(version) FROM run_events AS known WHERE known.run_id = runs.id), 0) AS last
    FROM runs
    WHERE id = ANY (asked) AND NOT EXISTS (
      SELECT FROM run_events AS known
      WHERE known.run_id = runs.id AND known.path = '' AND known.subject = '' AND known.kind = 'run'
        AND known.status <> 'In Progress')
  ), place AS (
    SELECT id AS run_id, is_over, '' AS path FROM run
    UNION ALL
    SELECT place.run_id, place.is_over, loop.prefix || index || ']'
    FROM place CROSS JOIN LATERAL loops_at(place.run_id, place.path) AS loop
      LEFT JOIN announced_iterations AS known ON known.run_id = place.run_id AND known.path = place.path
        AND known.node_id = loop.node_id
      CROSS JOIN LATERAL unnest(
        CASE WHEN place.is_over OR known.indexes IS NULL THEN loop.started ELSE loop.started - known.indexes END) AS untold
      CROSS JOIN LATERAL generate_series(lower(untold), upper(untold) - 1) AS index
  ), announced AS (
    INSERT INTO announced_iterations AS known (run_id, path, node_id, indexes)
    SELECT place.run_id, place.path, loop.node_id, loop.ended
    FROM place CROSS JOIN LATERAL loops_at(place.run_id, place.path) AS loop
    WHERE NOT isempty(loop.ended)
    ON CONFLICT (run_id, path, node_id) DO UPDATE SET indexes = excluded.indexes WHERE known.indexes <> excluded.indexes
  ), fact AS (
    SELECT id AS run_id, 'run' AS kind, '' AS path, '' AS subject, status,
      CASE WHEN is_over THEN 2 ELSE 0 END AS place, NULL::timestamptz AS moment, 0 AS counted
    FROM run WHERE is_started OR is_over
    UNION ALL
    SELECT place.run_id, here.kind, here.path, here.subject, here.status, 1, here.moment, here.counted
    FROM place CROSS JOIN LATERAL facts_at(place.run_id, place.path) AS here
  ), news AS (
    SELECT fact.*, run.reached, run.last FROM fact JOIN run ON run.id = fact.run_id
    WHERE NOT EXISTS (
      SELECT FROM run_events AS known
      WHERE known.run_id = fact.run_id AND known.path = fact.path AND known.subject = fact.subject
        AND known.kind = fact.kind AND known.status = fact.status AND known.counted = fact.counted)
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
END $$;
