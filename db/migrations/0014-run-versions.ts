import { sql, type Kysely } from 'kysely';

/**
 * Versions count what readers see of a run, events give it an order, and watches say who wants to be told (ADR 16). The
 * progress of a loop is kept with the loop, instead of being counted over its iterations.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...tables, ...paths, ...counts, ...triggers, ...events])
    await sql.raw(statement).execute(db);
}

const tables = [
  // Unlogged, because a crash ends the connections of those who watch, and they register again. A change of a run looks
  // for its rows here, so the table is kept small, and its vacuum must not wait for fifty dead rows.
  `CREATE UNLOGGED TABLE run_watches (
    run_id uuid NOT NULL,
    listener uuid NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (run_id, listener)
  ) WITH (fillfactor = 70)`,
  // Neither references the run: the lock of a foreign key on the run's row would wait for the end of the run, and make
  // that wait. `counted`: of a request or a task that is pending, how many decisions or answers had been counted; of an
  // agent, which of its tool calls has started its run (odd), or has waited for it (even).
  `CREATE TABLE run_events (
    run_id uuid NOT NULL,
    version bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('run', 'node', 'approval', 'human_task')),
    path text NOT NULL DEFAULT '',
    subject text NOT NULL DEFAULT '',
    status text NOT NULL,
    counted integer NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, version)
  )`,
  `CREATE INDEX run_events_subject ON run_events (run_id, path, subject)`,
  // The rows of a loop add up. Each iteration that begins or ends adds one instead of changing one, because iterations
  // that end together would wait for the lock of that row, each for the disk write of the one before. Some of those that
  // end replace the rows by their sum. `begun` and `ended` are indexes of iterations, which mostly follow each other.
  // `changes` counts what has happened in the iterations that have ended, those of loops in them included.
  `CREATE TABLE loop_progress (
    run_id uuid NOT NULL,
    path text NOT NULL,
    node_id text NOT NULL,
    prefix text NOT NULL,
    begun int4multirange NOT NULL DEFAULT '{}',
    ended int4multirange NOT NULL DEFAULT '{}',
    failed integer NOT NULL DEFAULT 0,
    changes bigint NOT NULL DEFAULT 0
  )`,
  `CREATE INDEX loop_progress_loop ON loop_progress (run_id, path, node_id)`,
  // The iterations that have ended and of which every event has its place in run_events.
  `CREATE TABLE told_iterations (
    run_id uuid NOT NULL,
    path text NOT NULL,
    node_id text NOT NULL,
    told int4multirange NOT NULL,
    PRIMARY KEY (run_id, path, node_id)
  )`,
];

/** The parts of the path of an iteration (graph/iteration-path.ts). */
const paths = [
  `CREATE FUNCTION loop_path(iteration text) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT regexp_replace(iteration, '/?[^/]*$', '') $$`,
  `CREATE FUNCTION loop_prefix(iteration text) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT substring(iteration FROM '^(.*\\[)[0-9]+\\]$') $$`,
  `CREATE FUNCTION iteration_index(iteration text) RETURNS integer LANGUAGE sql IMMUTABLE AS
    $$ SELECT substring(iteration FROM '([0-9]+)\\]$')::integer $$`,
  `CREATE FUNCTION count_indexes(indexes int4multirange) RETURNS integer LANGUAGE sql IMMUTABLE AS
    $$ SELECT coalesce(sum(upper(part) - lower(part)), 0)::integer FROM unnest(indexes) AS part $$`,
];

const counts = [
  `CREATE FUNCTION loops_at(asked uuid, place text)
    RETURNS TABLE (node_id text, prefix text, begun int4multirange, ended int4multirange, failed bigint, changes bigint)
    LANGUAGE sql STABLE AS $$
    SELECT progress.node_id, progress.prefix, range_agg(progress.begun), range_agg(progress.ended), sum(progress.failed),
      sum(progress.changes)::bigint
    FROM loop_progress AS progress WHERE progress.run_id = asked AND progress.path = place
    GROUP BY progress.node_id, progress.prefix $$`,
  // The function returns the changes of a run at some paths; a path is empty outside loops and names one iteration else.
  // Iterations that have ended in a loop at one of these paths are in the sum of the loop. `overdue` counts the pending
  // requests whose time is over. PL/pgSQL keeps one plan, which serves any number of paths.
  `CREATE FUNCTION changes_at(asked uuid, places text[], OUT changes bigint, OUT overdue bigint, OUT changed_at timestamptz)
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
  BEGIN
    SELECT nodes.changes + loops.changes + requests.changes + tasks.changes + children.changes, requests.overdue,
      nodes.changed_at
    INTO changes, overdue, changed_at
    FROM (
      SELECT count(*) + count(*) FILTER (WHERE status <> 'in progress') AS changes,
        max(greatest(started_at, finished_at)) AS changed_at
      FROM node_results WHERE run_id = asked AND path = ANY (places)
    ) AS nodes CROSS JOIN (
      SELECT coalesce(sum(progress.changes), 0)::bigint AS changes
      FROM loop_progress AS progress WHERE run_id = asked AND path = ANY (places)
    ) AS loops CROSS JOIN (
      SELECT count(*) + count(*) FILTER (WHERE status <> 'pending') + coalesce(sum(counted), 0) AS changes,
        count(*) FILTER (WHERE status = 'pending' AND expires_at <= now()) AS overdue
      FROM approval_requests WHERE run_id = asked AND path = ANY (places)
    ) AS requests CROSS JOIN (
      SELECT count(*) + count(*) FILTER (WHERE status <> 'pending') + coalesce(sum(counted), 0) AS changes
      FROM human_tasks WHERE run_id = asked AND path = ANY (places)
    ) AS tasks CROSS JOIN (
      SELECT count(*) + count(closed_at) AS changes FROM waits WHERE run_id = asked AND path = ANY (places) AND call > 0
    ) AS children;
  END $$`,
  // The function returns the paths of the iterations that are open in the loops at some paths, or null for none.
  `CREATE FUNCTION open_iterations(asked uuid, places text[]) RETURNS text[]
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
  BEGIN
    RETURN (
      SELECT array_agg(loop.prefix || index || ']')
      FROM (
        SELECT progress.prefix, range_agg(progress.begun) - range_agg(progress.ended) AS open
        FROM loop_progress AS progress WHERE progress.run_id = asked AND progress.path = ANY (places)
        GROUP BY progress.path, progress.node_id, progress.prefix
      ) AS loop CROSS JOIN LATERAL unnest(loop.open) AS part
        CROSS JOIN LATERAL generate_series(lower(part), upper(part) - 1) AS index);
  END $$`,
  // The function returns the changes of a whole run: those outside loops, and those of the iterations that are open,
  // however deep. Nobody can foresee how many iterations are open, and in a function the statements of polls keep their
  // plans.
  `CREATE FUNCTION run_changes(asked uuid, OUT changes bigint, OUT overdue bigint, OUT changed_at timestamptz)
    LANGUAGE plpgsql STABLE AS $$
  DECLARE
    level text[] := '{""}';
    places text[] := level;
  BEGIN
    LOOP
      level := open_iterations(asked, level);
      EXIT WHEN level IS NULL;
      places := places || level;
    END LOOP;
    SELECT at.* INTO changes, overdue, changed_at FROM changes_at(asked, places) AS at;
  END $$`,
];

const triggers = [
  // An iteration that ends inside of one that has ended already (both are closed together, or it began too late) belongs
  // to the sums of the loops around it, too. Rows that somebody else adds up at the same time are left alone.
  `CREATE FUNCTION count_iteration() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    index integer := iteration_index(NEW.path);
    itself int4multirange := int4multirange(int4range(index, index, '[]'));
    place text := loop_path(NEW.path);
    inside bigint;
  BEGIN
    IF NEW.status = 'in progress' THEN
      INSERT INTO loop_progress (run_id, path, node_id, prefix, begun)
      VALUES (NEW.run_id, place, NEW.node_id, loop_prefix(NEW.path), itself);
      RETURN NULL;
    END IF;
    SELECT found.changes INTO inside FROM changes_at(NEW.run_id, ARRAY[NEW.path]) AS found;
    INSERT INTO loop_progress (run_id, path, node_id, prefix, begun, ended, failed, changes)
    VALUES (NEW.run_id, place, NEW.node_id, loop_prefix(NEW.path), itself, itself, (NEW.status = 'failed')::integer, inside);
    IF index % 16 = 15 THEN
      WITH taken AS (
        DELETE FROM loop_progress WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM loop_progress WHERE run_id = NEW.run_id AND path = place AND node_id = NEW.node_id
          FOR UPDATE SKIP LOCKED))
        RETURNING *
      )
      INSERT INTO loop_progress (run_id, path, node_id, prefix, begun, ended, failed, changes)
      SELECT run_id, path, node_id, prefix, range_agg(begun), range_agg(ended), sum(failed), sum(changes)
      FROM taken GROUP BY run_id, path, node_id, prefix;
    END IF;
    WHILE place <> '' LOOP
      INSERT INTO loop_progress (run_id, path, node_id, prefix, changes)
      SELECT NEW.run_id, loop_path(place), loop.node_id, loop.prefix, inside
      FROM loops_at(NEW.run_id, loop_path(place)) AS loop
      WHERE loop.prefix = loop_prefix(place) AND loop.ended @> iteration_index(place);
      EXIT WHEN NOT FOUND;
      place := loop_path(place);
    END LOOP;
    RETURN NULL;
  END $$`,
  // Iterations that a run takes over from another one come in thousands, and are counted together (the function below).
  `CREATE TRIGGER node_results_iteration_begun AFTER INSERT ON node_results
    FOR EACH ROW WHEN (NEW.is_iteration AND NOT NEW.is_reused) EXECUTE FUNCTION count_iteration()`,
  `CREATE TRIGGER node_results_iteration_ended AFTER UPDATE OF status ON node_results
    FOR EACH ROW WHEN (NEW.is_iteration AND OLD.status = 'in progress' AND NEW.status <> 'in progress')
    EXECUTE FUNCTION count_iteration()`,
  // The function writes what the triggers would have written for the iterations of a run, from all of its rows.
  `CREATE FUNCTION restore_loop_progress(asked uuid) RETURNS void LANGUAGE sql AS $$
    WITH fact AS (
      SELECT path, 1 + (status <> 'in progress')::integer AS changes
      FROM node_results WHERE run_id = asked AND path <> ''
      UNION ALL
      SELECT path, 1 + (status <> 'pending')::integer + counted FROM approval_requests WHERE run_id = asked AND path <> ''
      UNION ALL
      SELECT path, 1 + (status <> 'pending')::integer + counted FROM human_tasks WHERE run_id = asked AND path <> ''
      UNION ALL
      SELECT path, 1 + (closed_at IS NOT NULL)::integer FROM waits WHERE run_id = asked AND path <> '' AND call > 0
    ), at AS (
      SELECT path, sum(changes) AS changes FROM fact GROUP BY path
    ), inside AS (
      SELECT array_to_string(parts[:depth], '/') AS iteration, sum(changes)::bigint AS changes
      FROM at CROSS JOIN LATERAL string_to_array(path, '/') AS parts
        CROSS JOIN LATERAL generate_series(1, cardinality(parts)) AS depth
      GROUP BY iteration
    )
    INSERT INTO loop_progress (run_id, path, node_id, prefix, begun, ended, failed, changes)
    SELECT asked, loop_path(path), node_id, loop_prefix(path), range_agg(int4range(index, index, '[]')),
      coalesce(range_agg(int4range(index, index, '[]')) FILTER (WHERE status <> 'in progress'), '{}'),
      count(*) FILTER (WHERE status = 'failed'),
      coalesce(sum(inside.changes) FILTER (WHERE status <> 'in progress'), 0)
    FROM node_results JOIN inside ON inside.iteration = path
      CROSS JOIN LATERAL iteration_index(path) AS index
    WHERE run_id = asked AND is_iteration
    GROUP BY loop_path(path), node_id, loop_prefix(path) $$`,
];

const events = [
  // The function returns what readers are told of one path, which is empty outside loops and names one iteration else.
  // `counted` tells apart what has the same status: the decisions and answers that were counted, and the runs that an
  // agent waits for.
  `CREATE FUNCTION facts_at(asked uuid, at_path text)
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
    FROM waits WHERE run_id = asked AND path = at_path AND call > 0 AND closed_at IS NOT NULL $$`,
  // Each statement of the function has a snapshot of its own: those of the second are younger than the lock, so that what
  // is not in the table yet is in nobody's hands. The versions of new events end at the number that polls of the same
  // snapshot get, and begin behind every number that polls of an earlier one can have got (db/watches/run-version.ts). It looks
  // only at what may have changed since the last look: what is outside loops, and the iterations that are not told yet. When
  // the run has ended it looks at all of them once more, and never again after that.
  `CREATE FUNCTION order_run_events(asked uuid[]) RETURNS TABLE (of_run uuid, last_version bigint) LANGUAGE plpgsql AS $$
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
        LEFT JOIN told_iterations AS known ON known.run_id = place.run_id AND known.path = place.path
          AND known.node_id = loop.node_id
        CROSS JOIN LATERAL unnest(
          CASE WHEN place.is_over OR known.told IS NULL THEN loop.begun ELSE loop.begun - known.told END) AS untold
        CROSS JOIN LATERAL generate_series(lower(untold), upper(untold) - 1) AS index
    ), told AS (
      INSERT INTO told_iterations AS known (run_id, path, node_id, told)
      SELECT place.run_id, place.path, loop.node_id, loop.ended
      FROM place CROSS JOIN LATERAL loops_at(place.run_id, place.path) AS loop
      WHERE NOT isempty(loop.ended)
      ON CONFLICT (run_id, path, node_id) DO UPDATE SET told = excluded.told WHERE known.told <> excluded.told
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
  END $$`,
];
