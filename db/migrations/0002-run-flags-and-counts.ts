import { sql, type Kysely } from 'kysely';

/** What the history of a workflow needs to stay right under concurrency and quick with 100,000 runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // At most one API run and one template run a workflow, whoever sets the flags at once.
  `CREATE UNIQUE INDEX runs_api_run ON runs (workflow_id) WHERE is_api_run`,
  `CREATE UNIQUE INDEX runs_template ON runs (workflow_id) WHERE use_as_marketplace_template`,
  // A list's total without counting: every run that was ever inserted (none is ever deleted).
  `CREATE TABLE workflow_run_counts (
    workflow_id integer PRIMARY KEY REFERENCES workflows (id),
    total integer NOT NULL
  ) WITH (fillfactor = 50)`,
  `INSERT INTO workflow_run_counts SELECT workflow_id, count(*) FROM runs GROUP BY workflow_id`,
  // Ordered, so that two statements that insert runs of several workflows never wait for each other in a circle.
  `CREATE FUNCTION count_added_runs() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO workflow_run_counts AS counted (workflow_id, total)
    SELECT workflow_id, count(*) FROM added GROUP BY workflow_id ORDER BY workflow_id
    ON CONFLICT (workflow_id) DO UPDATE SET total = counted.total + excluded.total;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER runs_counted AFTER INSERT ON runs REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_added_runs()`,
  // Deep pages skip rows by index alone, as far as the visibility map is fresh.
  `ALTER TABLE runs SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02)`,
];
