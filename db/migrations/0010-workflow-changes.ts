import { sql, type Kysely } from 'kysely';

/**
 * Runs of one workflow no longer wait for each other: what was added to the one row of its figures, and held that row
 * through the commit, is now a row of its own in `workflow_changes`. The figures are the sum of both at any moment;
 * every few seconds the changes are folded into `workflow_totals` (workflow-changes-repository.ts).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // Whoever runs and pays meanwhile waits, so that the figures miss nothing. Runs first, as their writers do.
  `LOCK TABLE runs, billing_transactions, workflows IN SHARE ROW EXCLUSIVE MODE`,
  `DROP TRIGGER runs_counted ON runs`,
  `DROP FUNCTION count_added_runs`,
  `ALTER TABLE workflow_statistics RENAME TO workflow_totals`,
  `ALTER TABLE workflow_totals ADD recorded_count integer NOT NULL DEFAULT 0`,
  `UPDATE workflow_totals AS kept SET recorded_count = counted.total
    FROM workflow_run_counts AS counted WHERE counted.workflow_id = kept.workflow_id`,
  `DROP TABLE workflow_run_counts`,
  // No key and no index: it is only ever read as a whole, and holds the changes of seconds.
  `CREATE TABLE workflow_changes (
    workflow_id integer NOT NULL,
    recorded_count integer NOT NULL DEFAULT 0,
    run_count integer NOT NULL DEFAULT 0,
    finished_count integer NOT NULL DEFAULT 0,
    duration_seconds numeric NOT NULL DEFAULT 0,
    cost_usd numeric NOT NULL DEFAULT 0,
    last_run_id uuid,
    last_run_at timestamptz
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
  `CREATE VIEW workflow_statistics AS
    SELECT kept.workflow_id,
      kept.recorded_count + coalesce(changed.recorded_count, 0)::integer AS recorded_count,
      kept.run_count + coalesce(changed.run_count, 0)::integer AS run_count,
      kept.finished_count + coalesce(changed.finished_count, 0)::integer AS finished_count,
      kept.total_duration_seconds + coalesce(changed.duration_seconds, 0) AS total_duration_seconds,
      kept.total_cost_usd + coalesce(changed.cost_usd, 0) AS total_cost_usd,
      CASE WHEN changed.last_run_at >= kept.last_run_at OR kept.last_run_at IS NULL
        THEN changed.last_run_id ELSE kept.last_run_id END AS last_run_id,
      greatest(kept.last_run_at, changed.last_run_at) AS last_run_at
    FROM workflow_totals kept LEFT JOIN (
      SELECT workflow_id, sum(recorded_count) AS recorded_count, sum(run_count) AS run_count,
        sum(finished_count) AS finished_count, sum(duration_seconds) AS duration_seconds, sum(cost_usd) AS cost_usd,
        (array_agg(last_run_id ORDER BY last_run_at DESC, last_run_id DESC)
          FILTER (WHERE last_run_at IS NOT NULL))[1] AS last_run_id,
        max(last_run_at) AS last_run_at
      FROM workflow_changes GROUP BY workflow_id
    ) AS changed ON changed.workflow_id = kept.workflow_id`,
  `CREATE VIEW workflow_run_counts AS SELECT workflow_id, recorded_count AS total FROM workflow_statistics`,
  `CREATE OR REPLACE FUNCTION start_workflow_statistics() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO workflow_totals (workflow_id) VALUES (NEW.id);
    RETURN NULL;
  END $$`,
  // A draft never ran: it is recorded, and counts nowhere else.
  `CREATE OR REPLACE FUNCTION count_new_runs() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO workflow_changes (workflow_id, recorded_count, run_count, finished_count, duration_seconds, cost_usd,
      last_run_id, last_run_at)
    SELECT workflow_id, count(*), count(*) FILTER (WHERE has_run), count(duration) FILTER (WHERE has_run),
      coalesce(sum(extract(epoch FROM duration)) FILTER (WHERE has_run), 0),
      coalesce(sum(cost_usd) FILTER (WHERE has_run), 0),
      (array_agg(id ORDER BY created_at DESC, id DESC) FILTER (WHERE has_run))[1],
      max(created_at) FILTER (WHERE has_run)
    FROM (
      SELECT *, status <> 'Draft' AS has_run, run_finished_at - run_started_at AS duration FROM new_runs
    ) AS added
    GROUP BY workflow_id;
    RETURN NULL;
  END $$`,
  `CREATE OR REPLACE FUNCTION count_finished_run() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO workflow_changes (workflow_id, finished_count, duration_seconds)
    VALUES (NEW.workflow_id, 1, extract(epoch FROM NEW.run_finished_at - NEW.run_started_at));
    RETURN NULL;
  END $$`,
  `CREATE OR REPLACE FUNCTION add_transaction_to_sums() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    growth numeric := NEW.amount_usd;
    run_workflow_id integer;
  BEGIN
    IF TG_OP = 'UPDATE' THEN growth := NEW.amount_usd - OLD.amount_usd; END IF;
    IF growth = 0 THEN RETURN NULL; END IF;
    UPDATE runs SET cost_usd = cost_usd + growth WHERE id = NEW.run_id RETURNING workflow_id INTO run_workflow_id;
    UPDATE projects SET total_spent_usd = total_spent_usd + growth WHERE id = NEW.project_id;
    INSERT INTO workflow_changes (workflow_id, cost_usd) VALUES (run_workflow_id, growth);
    RETURN NULL;
  END $$`,
  // A transaction's project and user are copies of its run's, and nothing deletes a project or a user: checking them
  // took two locks on rows that all runs of a project share.
  `ALTER TABLE billing_transactions
    DROP CONSTRAINT billing_transactions_project_id_fkey, DROP CONSTRAINT billing_transactions_user_id_fkey`,
];
