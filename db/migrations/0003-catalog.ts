import { sql, type Kysely } from 'kysely';

/** Categories, bookmarks, what the marketplace needs, and per-workflow figures that lists are ordered by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...tables, ...statistics]) await sql.raw(statement).execute(db);
}

const tables = [
  // Whoever runs and pays meanwhile waits, so that the first figures miss nothing. Runs first, as their writers do.
  `LOCK TABLE runs, billing_transactions, workflows IN SHARE ROW EXCLUSIVE MODE`,
  `CREATE TABLE categories (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    parent_id integer REFERENCES categories (id),
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE workflow_categories (
    workflow_id integer NOT NULL REFERENCES workflows (id),
    category_id integer NOT NULL REFERENCES categories (id),
    PRIMARY KEY (workflow_id, category_id)
  )`,
  `CREATE INDEX workflow_categories_category ON workflow_categories (category_id, workflow_id)`,
  `CREATE TABLE bookmarks (
    user_id integer NOT NULL REFERENCES users (id),
    workflow_id integer NOT NULL REFERENCES workflows (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, workflow_id)
  )`,
  `ALTER TABLE workflows
    ADD first_published_at timestamptz,
    ADD last_published_at timestamptz,
    ADD published_snapshot bytea REFERENCES graph_snapshots (hash),
    ADD CONSTRAINT workflows_publication
      CHECK (NOT is_published OR (slug IS NOT NULL AND last_published_at IS NOT NULL AND published_snapshot IS NOT NULL))`,
  // Both with what the pages of their lists are picked by: the rows themselves are wide.
  `CREATE INDEX workflows_catalog ON workflows (project_id, id) INCLUDE (created_at, author_id)
    WHERE archived_at IS NULL`,
  `CREATE INDEX workflows_published ON workflows (last_published_at DESC, id DESC) INCLUDE (project_id, created_at)
    WHERE is_published AND archived_at IS NULL`,
  `CREATE TABLE marketplace_copies (
    copy_id integer PRIMARY KEY REFERENCES workflows (id),
    source_id integer NOT NULL REFERENCES workflows (id),
    user_id integer NOT NULL REFERENCES users (id),
    run_fee_usd numeric NOT NULL CHECK (run_fee_usd >= 0),
    free_runs_per_user integer NOT NULL CHECK (free_runs_per_user >= 0),
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX marketplace_copies_source ON marketplace_copies (source_id, user_id)`,
  `CREATE TABLE marketplace_usage (
    source_id integer NOT NULL REFERENCES workflows (id),
    user_id integer NOT NULL REFERENCES users (id),
    succeeded_runs integer NOT NULL,
    PRIMARY KEY (source_id, user_id)
  )`,
];

/**
 * The figures are kept where the rows are written, in the same transaction, so they cannot disagree with them. Lock
 * order everywhere: run, project, statistics. The row of a busy workflow is hot, hence the low fillfactor and no
 * index but the key: its updates stay in their page (HOT) and its lock is taken last, for the rest of a commit only.
 */
const statistics = [
  `CREATE TABLE workflow_statistics (
    workflow_id integer PRIMARY KEY REFERENCES workflows (id),
    run_count integer NOT NULL DEFAULT 0,
    finished_count integer NOT NULL DEFAULT 0,
    total_duration_seconds numeric NOT NULL DEFAULT 0,
    total_cost_usd numeric NOT NULL DEFAULT 0,
    last_run_id uuid,
    last_run_at timestamptz
  ) WITH (fillfactor = 50)`,
  `INSERT INTO workflow_statistics
    SELECT workflow.id, count(run.id), count(run.run_finished_at - run.run_started_at),
      coalesce(sum(extract(epoch FROM run.run_finished_at - run.run_started_at)), 0), coalesce(sum(run.cost_usd), 0),
      (array_agg(run.id ORDER BY run.created_at DESC, run.id DESC))[1], max(run.created_at)
    FROM workflows workflow LEFT JOIN runs run ON run.workflow_id = workflow.id AND run.status <> 'Draft'
    GROUP BY workflow.id`,
  `CREATE FUNCTION start_workflow_statistics() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO workflow_statistics (workflow_id) VALUES (NEW.id);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER workflows_statistics AFTER INSERT ON workflows
    FOR EACH ROW EXECUTE FUNCTION start_workflow_statistics()`,
  // Once a statement, not once a row: a bulk insert would otherwise leave as many dead versions of one row. A `Draft`
  // never ran and does not count.
  `CREATE FUNCTION count_new_runs() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE workflow_statistics AS kept SET
      run_count = kept.run_count + added.runs,
      finished_count = kept.finished_count + added.finished,
      total_duration_seconds = kept.total_duration_seconds + added.duration,
      total_cost_usd = kept.total_cost_usd + added.cost,
      last_run_id = CASE WHEN added.last_at >= kept.last_run_at OR kept.last_run_at IS NULL
        THEN added.last_id ELSE kept.last_run_id END,
      last_run_at = greatest(kept.last_run_at, added.last_at)
    FROM (
      SELECT workflow_id, count(*) AS runs, count(run_finished_at - run_started_at) AS finished,
        coalesce(sum(extract(epoch FROM run_finished_at - run_started_at)), 0) AS duration, sum(cost_usd) AS cost,
        (array_agg(id ORDER BY created_at DESC, id DESC))[1] AS last_id, max(created_at) AS last_at
      FROM new_runs WHERE status <> 'Draft' GROUP BY workflow_id
    ) AS added
    WHERE kept.workflow_id = added.workflow_id;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER runs_statistics_new AFTER INSERT ON runs REFERENCING NEW TABLE AS new_runs
    FOR EACH STATEMENT EXECUTE FUNCTION count_new_runs()`,
  `CREATE FUNCTION count_finished_run() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE workflow_statistics SET finished_count = finished_count + 1,
      total_duration_seconds = total_duration_seconds + extract(epoch FROM NEW.run_finished_at - NEW.run_started_at)
    WHERE workflow_id = NEW.workflow_id;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER runs_statistics_finished AFTER UPDATE OF status ON runs FOR EACH ROW
    WHEN (OLD.status = 'In Progress' AND NEW.run_finished_at - NEW.run_started_at IS NOT NULL)
    EXECUTE FUNCTION count_finished_run()`,
  // Was: run and project. ADR 3 holds for the workflow's total as well.
  `CREATE OR REPLACE FUNCTION add_transaction_to_sums() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    growth numeric := NEW.amount_usd;
    run_workflow_id integer;
  BEGIN
    IF TG_OP = 'UPDATE' THEN growth := NEW.amount_usd - OLD.amount_usd; END IF;
    IF growth = 0 THEN RETURN NULL; END IF;
    UPDATE runs SET cost_usd = cost_usd + growth WHERE id = NEW.run_id RETURNING workflow_id INTO run_workflow_id;
    UPDATE projects SET total_spent_usd = total_spent_usd + growth WHERE id = NEW.project_id;
    UPDATE workflow_statistics SET total_cost_usd = total_cost_usd + growth WHERE workflow_id = run_workflow_id;
    RETURN NULL;
  END $$`,
];
