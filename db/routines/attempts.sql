-- Stores attempts whose worker was lost.

-- Stores the previous attempt in the statement that starts the next one. If the previous attempt has not reported its
-- end and another process continues, it was lost with its worker. From the second such death on, the node waits until
-- its new worker starts it (docs/adr/0030-deaths-of-workers.md).
CREATE OR REPLACE FUNCTION keep_lost_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  deaths integer;
BEGIN
  INSERT INTO node_attempts (run_id, path, node_id, number, started_at, finished_at, error_code, step, worker,
    was_isolated)
  VALUES (OLD.run_id, OLD.path, OLD.node_id, OLD.attempts, coalesce(OLD.attempt_started_at, OLD.started_at),
    coalesce(NEW.attempt_started_at, clock_timestamp()), 'worker_lost', OLD.step,
    CASE WHEN OLD.worker <> NEW.worker THEN OLD.worker END, coalesce(OLD.isolation = 'runs', false))
  ON CONFLICT DO NOTHING;
  SELECT count(worker), count(*) FILTER (WHERE worker IS NOT NULL OR error_code = 'worker_shutdown')
  INTO deaths, NEW.spared
  FROM node_attempts
  WHERE run_id = OLD.run_id AND path = OLD.path AND node_id = OLD.node_id AND step IS NOT DISTINCT FROM OLD.step;
  IF deaths >= 2 THEN
    NEW.isolation := 'waits';
    NEW.worker := NULL;
  END IF;
  RETURN NEW;
END $$;

-- The attempt of a node that waits for a connection is not counted, so there may be no previous attempt to store.
CREATE OR REPLACE TRIGGER node_results_attempts BEFORE UPDATE OF attempts ON node_results
  FOR EACH ROW WHEN (NEW.attempts > OLD.attempts AND OLD.attempts > 0) EXECUTE FUNCTION keep_lost_attempt();
