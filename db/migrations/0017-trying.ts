import { sql, type Kysely } from 'kysely';
import { triggersOf, type Counted } from './0013-stored-bytes.js';

/** Test runs, pins and cases. Extensions, section 11. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...runs, ...figures, ...results, ...pins, ...cases, ...COUNTED.flatMap(triggersOf)])
    await sql.raw(statement).execute(db);
}

const runs = [
  `ALTER TABLE runs ADD COLUMN purpose text NOT NULL DEFAULT 'run' CHECK (purpose IN ('run', 'test'))`,
  // A test of a drawing that is not stored has no version of it.
  `ALTER TABLE runs ALTER COLUMN workflow_version DROP NOT NULL`,
  // A test asks only who has started it.
  `ALTER TABLE approval_requests ADD COLUMN only_user integer`,
  `DROP INDEX approval_requests_newest, approval_requests_pending`,
  `CREATE INDEX approval_requests_newest ON approval_requests (project_id, created_at, request_id)
    INCLUDE (status, expires_at, only_user)`,
  `CREATE INDEX approval_requests_pending ON approval_requests (project_id, created_at, request_id)
    INCLUDE (expires_at, only_user) WHERE status = 'pending'`,
  // What is tried, and how.
  `CREATE TABLE test_runs (
    run_id uuid PRIMARY KEY REFERENCES runs (id),
    mode text NOT NULL CHECK (mode IN ('node', 'up_to', 'from', 'case')),
    node_id text NOT NULL,
    skips_waits boolean NOT NULL
  )`,
];

// Tests are in no list and change no average; the project pays for them like for every run.
const figures = [
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
      SELECT *, status <> 'Draft' AS has_run, run_finished_at - run_started_at AS duration FROM new_runs WHERE purpose = 'run'
    ) AS added
    GROUP BY workflow_id;
    RETURN NULL;
  END $$`,
  `DROP TRIGGER runs_statistics_finished ON runs`,
  `CREATE TRIGGER runs_statistics_finished AFTER UPDATE OF status ON runs FOR EACH ROW
    WHEN (NEW.purpose = 'run' AND OLD.status = 'In Progress' AND NEW.run_finished_at - NEW.run_started_at IS NOT NULL)
    EXECUTE FUNCTION count_finished_run()`,
  `CREATE OR REPLACE FUNCTION add_transaction_to_sums() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    growth numeric := NEW.amount_usd;
    today date := period_start('day', clock_timestamp());
    run_workflow_id integer;
    run_purpose text;
  BEGIN
    IF TG_OP = 'UPDATE' THEN growth := NEW.amount_usd - OLD.amount_usd; END IF;
    IF growth = 0 THEN RETURN NULL; END IF;
    IF NEW.run_id IS NOT NULL THEN
      UPDATE runs SET cost_usd = cost_usd + growth WHERE id = NEW.run_id RETURNING workflow_id, purpose INTO run_workflow_id, run_purpose;
    END IF;
    UPDATE projects SET total_spent_usd = total_spent_usd + growth,
      spent_that_day_usd = CASE WHEN spent_on >= today THEN spent_that_day_usd ELSE 0 END + growth,
      spent_that_month_usd = CASE WHEN spent_on >= date_trunc('month', today)::date THEN spent_that_month_usd ELSE 0 END + growth,
      spent_on = greatest(spent_on, today)
    WHERE id = NEW.project_id;
    IF run_purpose = 'run' THEN
      INSERT INTO workflow_changes (workflow_id, cost_usd) VALUES (run_workflow_id, growth);
    END IF;
    RETURN NULL;
  END $$`,
  `DROP INDEX runs_history, runs_history_cost`,
  `CREATE INDEX runs_history ON runs (workflow_id, purpose, created_at, id) INCLUDE (status)`,
  `CREATE INDEX runs_history_cost ON runs (workflow_id, purpose, cost_usd, id) INCLUDE (status)`,
];

const results = [
  // Where a result that was not made by this run comes from: a mock, a pin, or another run.
  `ALTER TABLE node_results ADD COLUMN source text, ADD COLUMN is_stale boolean NOT NULL DEFAULT false`,
  // Results that nodes of a test run get in place of being executed: in the iteration with this path, or, by the path '*',
  // in all of them.
  `CREATE TABLE given_results (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL,
    node_id text NOT NULL,
    source text NOT NULL CHECK (source IN ('mock', 'pin')),
    is_stale boolean NOT NULL,
    outcome_enc bytea NOT NULL,
    PRIMARY KEY (run_id, path, node_id)
  )`,
];

const pins = [
  // `outcome` is what readers see. `pin_enc` is what nodes get, and a fingerprint of the node and of all before it.
  `CREATE TABLE pins (
    workflow_id integer NOT NULL REFERENCES workflows (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    outcome json NOT NULL,
    pin_enc bytea NOT NULL,
    source_run uuid,
    updated_by integer NOT NULL REFERENCES users (id),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workflow_id, path, node_id)
  )`,
];

const cases = [
  // `content_enc` is the input, the mocks and what is expected.
  `CREATE TABLE cases (
    id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    workflow_id integer NOT NULL REFERENCES workflows (id),
    name text NOT NULL,
    content_enc bytea NOT NULL,
    is_required boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX cases_of ON cases (workflow_id, id)`,
  // Several cases that were started together, with one drawing. They stop when their runs have cost more than `max_cost_usd`.
  `CREATE TABLE case_runs (
    id uuid PRIMARY KEY,
    workflow_id integer NOT NULL REFERENCES workflows (id),
    user_id integer NOT NULL REFERENCES users (id),
    status text NOT NULL DEFAULT 'in progress' CHECK (status IN ('in progress', 'passed', 'failed')),
    drawing_enc bytea NOT NULL,
    max_cost_usd numeric,
    is_cancelled boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
  )`,
  `CREATE INDEX case_runs_open ON case_runs (created_at) WHERE status = 'in progress'`,
  `CREATE INDEX case_runs_of ON case_runs (workflow_id)`,
  // `detail_enc` is what was expected when the case began, and what came instead.
  `CREATE TABLE case_results (
    case_run_id uuid NOT NULL REFERENCES case_runs (id),
    case_id integer NOT NULL,
    run_id uuid REFERENCES runs (id),
    status text NOT NULL DEFAULT 'in progress' CHECK (status IN ('in progress', 'passed', 'failed', 'error')),
    detail_enc bytea NOT NULL,
    PRIMARY KEY (case_run_id, case_id)
  )`,
];

const COUNTED: Counted[] = [
  {
    table: 'cases',
    columns: 'content_enc',
    bytes: 'octet_length(ROW.content_enc)',
    project: '(SELECT project_id FROM workflows WHERE id = ROW.workflow_id)',
    refuses: 'true',
  },
  {
    table: 'given_results',
    columns: '',
    bytes: 'octet_length(ROW.outcome_enc)',
    project: '(SELECT project_id FROM runs WHERE id = ROW.run_id)',
    refuses: 'true',
  },
  {
    table: 'pins',
    columns: 'pin_enc',
    bytes: 'octet_length(ROW.pin_enc)',
    project: '(SELECT project_id FROM workflows WHERE id = ROW.workflow_id)',
    refuses: 'true',
  },
];
