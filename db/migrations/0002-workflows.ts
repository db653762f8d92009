import { sql, type Kysely } from 'kysely';

/** Drawings, the catalog that they are found in, and the figures of each workflow that lists show and are ordered by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...drawings, ...catalog, ...statistics]) await sql.raw(statement).execute(db);
}

/** `json` (not `jsonb`) keeps documents byte for byte. */
const drawings = [
  `CREATE TABLE graph_snapshots (
    hash bytea PRIMARY KEY,
    document json NOT NULL,
    plan json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,

  `CREATE TABLE workflows (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id integer NOT NULL REFERENCES projects (id),
    author_id integer NOT NULL REFERENCES users (id),
    title text NOT NULL,
    sort_id integer NOT NULL,
    document json NOT NULL,
    secrets_enc bytea,
    market_title text NOT NULL DEFAULT '',
    short_description text NOT NULL DEFAULT '',
    available_languages text[] NOT NULL DEFAULT '{}',
    readme_guide text NOT NULL DEFAULT '',
    run_fee_usd numeric NOT NULL DEFAULT 0 CHECK (run_fee_usd >= 0),
    free_runs_per_user integer NOT NULL DEFAULT 0 CHECK (free_runs_per_user >= 0),
    is_published boolean NOT NULL DEFAULT false,
    slug text UNIQUE,
    first_published_at timestamptz,
    last_published_at timestamptz,
    published_snapshot bytea REFERENCES graph_snapshots (hash),
    copied_from integer REFERENCES workflows (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    archived_at timestamptz,
    CONSTRAINT workflows_publication
      CHECK (NOT is_published OR (slug IS NOT NULL AND last_published_at IS NOT NULL AND published_snapshot IS NOT NULL))
  )`,
  `CREATE INDEX workflows_project ON workflows (project_id, sort_id, id) WHERE archived_at IS NULL`,
  // The next two hold what the pages of their lists are picked by: the rows themselves are wide.
  `CREATE INDEX workflows_catalog ON workflows (project_id, id) INCLUDE (created_at, author_id)
    WHERE archived_at IS NULL`,
  `CREATE INDEX workflows_published ON workflows (last_published_at DESC, id DESC) INCLUDE (project_id, created_at)
    WHERE is_published AND archived_at IS NULL`,
  // Whether a graph is still referred to is asked by retention, and by the foreign key on each deletion.
  `CREATE INDEX workflows_published_snapshot ON workflows (published_snapshot) WHERE published_snapshot IS NOT NULL`,
];

const catalog = [
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
];

/**
 * Runs of one workflow must not wait for each other, and would if each held the one row of its figures through its
 * commit. So what a run adds is a row of its own in `workflow_changes`, written in the transaction that makes it true.
 * The figures are the sum of both tables at any moment; every few seconds the changes are folded into `workflow_totals`
 * (workflow-changes-repository.ts). The triggers that write changes stand beside `runs` and `billing_transactions`.
 */
const statistics = [
  `CREATE TABLE workflow_totals (
    workflow_id integer PRIMARY KEY REFERENCES workflows (id),
    recorded_count integer NOT NULL DEFAULT 0,
    run_count integer NOT NULL DEFAULT 0,
    finished_count integer NOT NULL DEFAULT 0,
    total_duration_seconds numeric NOT NULL DEFAULT 0,
    total_cost_usd numeric NOT NULL DEFAULT 0,
    last_run_id uuid,
    last_run_at timestamptz
  ) WITH (fillfactor = 50)`,
  `CREATE FUNCTION start_workflow_statistics() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO workflow_totals (workflow_id) VALUES (NEW.id);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER workflows_statistics AFTER INSERT ON workflows
    FOR EACH ROW EXECUTE FUNCTION start_workflow_statistics()`,

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
];
