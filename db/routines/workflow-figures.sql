-- The figures of each workflow that lists show (docs/adr/0010-figures-by-trigger.md).

CREATE OR REPLACE FUNCTION start_workflow_statistics() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO workflow_totals (workflow_id) VALUES (NEW.id);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER workflows_statistics AFTER INSERT ON workflows
  FOR EACH ROW EXECUTE FUNCTION start_workflow_statistics();

-- Runs once per statement, not per row, so that a bulk insert adds one change per workflow. Test runs are in no list
-- and change no average. A draft was never executed, so only `recorded_count` counts it.
CREATE OR REPLACE FUNCTION count_new_runs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO workflow_changes (workflow_id, recorded_count, run_count, finished_count, duration_seconds, cost_usd,
    last_run_id, last_run_at)
  SELECT workflow_id, count(*), count(*) FILTER (WHERE has_run), count(duration) FILTER (WHERE has_run),
    coalesce(sum(extract(epoch FROM duration)) FILTER (WHERE has_run), 0),
    coalesce(sum(cost_usd) FILTER (WHERE has_run), 0),
    (array_agg(id ORDER BY created_at DESC, id DESC) FILTER (WHERE has_run))[1],
    max(created_at) FILTER (WHERE has_run)
  FROM (
    SELECT *, status <> 'Draft' AS has_run, run_finished_at - run_started_at AS duration
    FROM new_runs WHERE purpose = 'run'
  ) AS added
  GROUP BY workflow_id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER runs_statistics_new AFTER INSERT ON runs REFERENCING NEW TABLE AS new_runs
  FOR EACH STATEMENT EXECUTE FUNCTION count_new_runs();

CREATE OR REPLACE FUNCTION count_finished_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO workflow_changes (workflow_id, finished_count, duration_seconds)
  VALUES (NEW.workflow_id, 1, extract(epoch FROM NEW.run_finished_at - NEW.run_started_at));
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER runs_statistics_finished AFTER UPDATE OF status ON runs FOR EACH ROW
  WHEN (NEW.purpose = 'run' AND OLD.status = 'In Progress' AND NEW.run_finished_at - NEW.run_started_at IS NOT NULL)
  EXECUTE FUNCTION count_finished_run();
