import { sql, type Kysely } from 'kysely';

/** Keeps which worker has claimed a node, and which attempts were lost with their worker. docs/adr/0030-deaths-of-workers.md. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of attempts) await sql.raw(statement).execute(db);
}

const attempts = [
  // `worker` is the process that executes the node, and null while the node waits for its turn. `spared`: attempts of the
  // node's step that do not count against its retries, because their worker died or has handed them back.
  `ALTER TABLE node_results ADD COLUMN worker uuid, ADD COLUMN spared integer NOT NULL DEFAULT 0, ADD COLUMN isolation text`,
  // Every row fulfils the constraint, so none is read.
  `ALTER TABLE node_results ADD CONSTRAINT node_results_isolation CHECK (isolation IN ('waits', 'runs')) NOT VALID`,
  // `worker` is the process that died during the attempt, and null where the attempt has ended in another way.
  `ALTER TABLE node_attempts ADD COLUMN step text, ADD COLUMN worker uuid,
    ADD COLUMN was_isolated boolean NOT NULL DEFAULT false`,
  `CREATE INDEX node_attempts_lost ON node_attempts (worker) WHERE worker IS NOT NULL`,
  // An attempt that another process follows, and that has not said how it ended, was lost with its worker. From the second
  // one on the node waits until its new worker lets it begin.
  `CREATE OR REPLACE FUNCTION keep_lost_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    deaths integer;
  BEGIN
    INSERT INTO node_attempts (run_id, path, node_id, number, started_at, finished_at, error_code, step, worker, was_isolated)
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
  END $$`,
  `DROP TRIGGER node_results_attempts ON node_results`,
  `CREATE TRIGGER node_results_attempts BEFORE UPDATE OF attempts ON node_results
    FOR EACH ROW WHEN (NEW.attempts > OLD.attempts AND OLD.attempts > 0) EXECUTE FUNCTION keep_lost_attempt()`,
];
