import { sql, type Kysely } from 'kysely';

/** Runs, what they add to the figures of their workflow, and the keys of repeated run starts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...runs, ...figures, ...keys]) await sql.raw(statement).execute(db);
}

const runs = [
  // Deep pages of a history skip rows by index alone, as far as the visibility map is fresh: hence the vacuum settings.
  `CREATE TABLE runs (
    id uuid PRIMARY KEY,
    workflow_id integer NOT NULL REFERENCES workflows (id),
    project_id integer NOT NULL REFERENCES projects (id),
    user_id integer NOT NULL REFERENCES users (id),
    status text NOT NULL CHECK (status IN ('In Progress', 'Succeeded', 'Cancelled', 'Error', 'Draft')),
    workflow_version integer NOT NULL DEFAULT 1,
    snapshot_hash bytea NOT NULL REFERENCES graph_snapshots (hash),
    input json NOT NULL,
    input_enc bytea,
    secrets_enc bytea,
    passed_secrets_enc bytea,
    parent_run_id uuid REFERENCES runs (id),
    parent_path text,
    parent_node_id text,
    root_run_id uuid,
    depth integer NOT NULL DEFAULT 0,
    resumed_from uuid REFERENCES runs (id),
    traceparent text,
    sequence integer NOT NULL DEFAULT 0,
    cost_usd numeric NOT NULL DEFAULT 0,
    error_code text,
    error_message text,
    node_errors json,
    is_api_run boolean NOT NULL DEFAULT false,
    use_in_marketplace_example boolean NOT NULL DEFAULT false,
    use_as_marketplace_template boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    run_started_at timestamptz,
    run_finished_at timestamptz,
    cancel_requested_at timestamptz,
    next_check_at timestamptz,
    check_attempts integer NOT NULL DEFAULT 0,
    stuck_since timestamptz,
    results_expired_at timestamptz,
    is_purge_pending boolean NOT NULL DEFAULT false,
    is_input_lost boolean NOT NULL DEFAULT false,
    CHECK ((status = 'In Progress') = (run_finished_at IS NULL)),
    CONSTRAINT runs_parent CHECK (num_nulls(parent_run_id, parent_path, parent_node_id, root_run_id)
      = CASE depth WHEN 0 THEN 4 ELSE 0 END)
  ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02)`,
  `CREATE INDEX runs_history ON runs (workflow_id, created_at, id) INCLUDE (status)`,
  `CREATE INDEX runs_history_cost ON runs (workflow_id, cost_usd, id) INCLUDE (status)`,
  // A workflow has at most one API run and one template run, whoever sets the flags at once.
  `CREATE UNIQUE INDEX runs_api_run ON runs (workflow_id) WHERE is_api_run`,
  `CREATE UNIQUE INDEX runs_template ON runs (workflow_id) WHERE use_as_marketplace_template`,
  // Open runs have a next check, others have none. The condition does not name the status, as every statement of a
  // running node does: with few runs open the planner would take this index for those too, and go through all open runs
  // for the one whose id it has.
  `CREATE INDEX runs_to_check ON runs (next_check_at) WHERE next_check_at IS NOT NULL`,
  `CREATE INDEX runs_stuck ON runs (stuck_since) WHERE status = 'In Progress' AND stuck_since IS NOT NULL`,
  // Pinned runs are not in it, however old they grow: no round of retention looks at them again.
  `CREATE INDEX runs_to_expire ON runs (run_finished_at)
    WHERE run_finished_at IS NOT NULL AND results_expired_at IS NULL
      AND NOT is_api_run AND NOT use_in_marketplace_example AND NOT use_as_marketplace_template`,
  `CREATE INDEX runs_to_purge ON runs (results_expired_at) WHERE is_purge_pending`,
  // Whether a graph is still referred to is asked by retention, and by the foreign key on each deletion.
  `CREATE INDEX runs_snapshot ON runs (snapshot_hash)`,
  // These two find what a run has cost with the runs below it, and how many runs there are below the first one.
  `CREATE INDEX runs_children ON runs (parent_run_id) INCLUDE (cost_usd) WHERE parent_run_id IS NOT NULL`,
  `CREATE INDEX runs_below_root ON runs (root_run_id) WHERE root_run_id IS NOT NULL`,
  // A row names the node that gave a run its output: the first output node whose end was recorded. The key decides between
  // several that end at the same time, and the row is never changed, so that an output which was shown once stays the same.
  // The value is not stored twice: it stands in the node's result, from this character of the text up to the last brace.
  `CREATE TABLE run_outputs (
    run_id uuid PRIMARY KEY REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    value_start integer NOT NULL CHECK (value_start > 0)
  )`,
];

const figures = [
  // Once a statement, not once a row, so that a bulk insert leaves one change a workflow. A draft never ran: it is
  // recorded, and counts nowhere else.
  `CREATE FUNCTION count_new_runs() RETURNS trigger LANGUAGE plpgsql AS $$
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
  `CREATE TRIGGER runs_statistics_new AFTER INSERT ON runs REFERENCING NEW TABLE AS new_runs
    FOR EACH STATEMENT EXECUTE FUNCTION count_new_runs()`,
  `CREATE FUNCTION count_finished_run() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO workflow_changes (workflow_id, finished_count, duration_seconds)
    VALUES (NEW.workflow_id, 1, extract(epoch FROM NEW.run_finished_at - NEW.run_started_at));
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER runs_statistics_finished AFTER UPDATE OF status ON runs FOR EACH ROW
    WHEN (OLD.status = 'In Progress' AND NEW.run_finished_at - NEW.run_started_at IS NOT NULL)
    EXECUTE FUNCTION count_finished_run()`,
];

const keys = [
  // Deferred: the key is claimed before the run is inserted, so that a request that comes second inserts nothing.
  // A call of a tool that was cancelled before its run was accepted has its key, and no run.
  `CREATE TABLE idempotency_keys (
    user_id integer NOT NULL REFERENCES users (id),
    key text NOT NULL,
    request_enc bytea NOT NULL,
    run_id uuid REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, key)
  )`,
  `CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at)`,
];
