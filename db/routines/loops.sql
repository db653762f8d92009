-- Counts the progress of the loops of a run, and the changes of the run, which are its version
-- (docs/adr/0016-versions-counted-not-written.md).

-- These functions return parts of the path of an iteration (graph/iteration-path.ts): the path around its loop, the
-- common prefix of the iterations of its loop, and its index.
CREATE OR REPLACE FUNCTION loop_path(iteration text) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$ SELECT regexp_replace(iteration, '/?[^/]*$', '') $$;

CREATE OR REPLACE FUNCTION loop_prefix(iteration text) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$ SELECT substring(iteration FROM '^(.*\[)[0-9]+\]$') $$;

CREATE OR REPLACE FUNCTION iteration_index(iteration text) RETURNS integer LANGUAGE sql IMMUTABLE AS
  $$ SELECT substring(iteration FROM '([0-9]+)\]$')::integer $$;

-- Returns the number of indexes in a multirange.
CREATE OR REPLACE FUNCTION count_indexes(indexes int4multirange) RETURNS integer LANGUAGE sql IMMUTABLE AS
  $$ SELECT coalesce(sum(upper(part) - lower(part)), 0)::integer FROM unnest(indexes) AS part $$;

-- Returns the sums of the loops at a path.
CREATE OR REPLACE FUNCTION loops_at(asked uuid, place text)
  RETURNS TABLE (node_id text, prefix text, started int4multirange, ended int4multirange, failed bigint, changes bigint)
  LANGUAGE sql STABLE AS $$
  SELECT progress.node_id, progress.prefix, range_agg(progress.started), range_agg(progress.ended), sum(progress.failed),
    sum(progress.changes)::bigint
  FROM loop_progress AS progress WHERE progress.run_id = asked AND progress.path = place
  GROUP BY progress.node_id, progress.prefix $$;

-- Returns the paths of the open iterations of the loops at some paths, or null if there are none.
CREATE OR REPLACE FUNCTION open_iterations(asked uuid, places text[]) RETURNS text[]
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT array_agg(loop.prefix || index || ']')
    FROM (
      SELECT progress.prefix, range_agg(progress.started) - range_agg(progress.ended) AS open
      FROM loop_progress AS progress WHERE progress.run_id = asked AND progress.path = ANY (places)
      GROUP BY progress.path, progress.node_id, progress.prefix
    ) AS loop CROSS JOIN LATERAL unnest(loop.open) AS part
      CROSS JOIN LATERAL generate_series(lower(part), upper(part) - 1) AS index);
END $$;

-- Returns the number of changes of a run at some paths. A path is empty outside loops, or names an iteration. The sum
-- of a loop at one of these paths includes its ended iterations. Each wait for a child run, a connection or a worker
-- starts and ends once. `overdue` counts the pending requests whose deadline has passed. PL/pgSQL caches one plan, which
-- serves any number of paths.
CREATE OR REPLACE FUNCTION changes_at(asked uuid, places text[], OUT changes bigint, OUT overdue bigint,
    OUT changed_at timestamptz)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  SELECT nodes.changes + loops.changes + requests.changes + tasks.changes + others.changes, requests.overdue,
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
    SELECT count(*) + count(closed_at) AS changes FROM waits WHERE run_id = asked AND path = ANY (places) AND call <> 0
  ) AS others;
END $$;

-- Returns the number of changes of a whole run: outside loops, and in open iterations at all depths. The number of open
-- iterations is unknown in advance, and a function lets the statements of polls reuse their plans.
CREATE OR REPLACE FUNCTION run_changes(asked uuid, OUT changes bigint, OUT overdue bigint, OUT changed_at timestamptz)
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
END $$;

-- Adds the start or the end of an iteration to the rows of its loop. Every 16th end replaces the rows of the loop by
-- their sum, except rows that another transaction is summing up at the same time. If an iteration ends inside one that
-- has already ended (because both are closed together, or it started too late), it is also added to the sums of the
-- loops around it.
CREATE OR REPLACE FUNCTION count_iteration() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  index integer := iteration_index(NEW.path);
  itself int4multirange := int4multirange(int4range(index, index, '[]'));
  place text := loop_path(NEW.path);
  inside bigint;
BEGIN
  IF NEW.status = 'in progress' THEN
    INSERT INTO loop_progress (run_id, path, node_id, prefix, started)
    VALUES (NEW.run_id, place, NEW.node_id, loop_prefix(NEW.path), itself);
    RETURN NULL;
  END IF;
  SELECT found.changes INTO inside FROM changes_at(NEW.run_id, ARRAY[NEW.path]) AS found;
  INSERT INTO loop_progress (run_id, path, node_id, prefix, started, ended, failed, changes)
  VALUES (NEW.run_id, place, NEW.node_id, loop_prefix(NEW.path), itself, itself,
    (NEW.status = 'failed')::integer, inside);
  IF index % 16 = 15 THEN
    WITH taken AS (
      DELETE FROM loop_progress WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM loop_progress WHERE run_id = NEW.run_id AND path = place AND node_id = NEW.node_id
        FOR UPDATE SKIP LOCKED))
      RETURNING *
    )
    INSERT INTO loop_progress (run_id, path, node_id, prefix, started, ended, failed, changes)
    SELECT run_id, path, node_id, prefix, range_agg(started), range_agg(ended), sum(failed), sum(changes)
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
END $$;

-- A run may reuse thousands of iterations, so these are counted together (`restore_loop_progress`).
CREATE OR REPLACE TRIGGER node_results_iteration_started AFTER INSERT ON node_results
  FOR EACH ROW WHEN (NEW.is_iteration AND NOT NEW.is_reused) EXECUTE FUNCTION count_iteration();

CREATE OR REPLACE TRIGGER node_results_iteration_ended AFTER UPDATE OF status ON node_results
  FOR EACH ROW WHEN (NEW.is_iteration AND OLD.status = 'in progress' AND NEW.status <> 'in progress')
  EXECUTE FUNCTION count_iteration();

-- Writes the same rows that the triggers would have written for the iterations of a run, from all of its rows.
CREATE OR REPLACE FUNCTION restore_loop_progress(asked uuid) RETURNS void LANGUAGE sql AS $$
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
  INSERT INTO loop_progress (run_id, path, node_id, prefix, started, ended, failed, changes)
  SELECT asked, loop_path(path), node_id, loop_prefix(path), range_agg(int4range(index, index, '[]')),
    coalesce(range_agg(int4range(index, index, '[]')) FILTER (WHERE status <> 'in progress'), '{}'),
    count(*) FILTER (WHERE status = 'failed'),
    coalesce(sum(inside.changes) FILTER (WHERE status <> 'in progress'), 0)
  FROM node_results JOIN inside ON inside.iteration = path
    CROSS JOIN LATERAL iteration_index(path) AS index
  WHERE run_id = asked AND is_iteration
  GROUP BY loop_path(path), node_id, loop_prefix(path) $$;
