import { sql, type Kysely } from 'kysely';

/** Each attempt of a node. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // `attempt_started_at` is null for the first attempt, which has begun with the node; `step` tells apart the activities of
  // a node that takes several.
  `ALTER TABLE node_results
    ADD COLUMN attempt_started_at timestamptz, ADD COLUMN step text, ADD COLUMN queued_ms integer`,
  // Attempts before the last one, which is the node's own row: a node that needs one attempt has no row here.
  `CREATE TABLE node_attempts (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    number integer NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    error_code text NOT NULL,
    error_message text,
    PRIMARY KEY (run_id, path, node_id, number)
  )`,
  // Whoever begins another attempt keeps the one before, in the same statement. An attempt that was left without a word
  // was lost with its worker.
  `CREATE FUNCTION keep_lost_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO node_attempts (run_id, path, node_id, number, started_at, finished_at, error_code)
    VALUES (OLD.run_id, OLD.path, OLD.node_id, OLD.attempts, coalesce(OLD.attempt_started_at, OLD.started_at),
      coalesce(NEW.attempt_started_at, clock_timestamp()), 'worker_lost')
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER node_results_attempts AFTER UPDATE OF attempts ON node_results
    FOR EACH ROW WHEN (NEW.attempts > OLD.attempts) EXECUTE FUNCTION keep_lost_attempt()`,
];
