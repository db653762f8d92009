import { sql, type Kysely } from 'kysely';

/** Users, projects, workflows, runs, results and money. `json` (not `jsonb`) keeps documents byte for byte. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `CREATE TABLE users (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    api_access boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE api_keys (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id integer NOT NULL REFERENCES users (id),
    label text NOT NULL DEFAULT '',
    key_hash bytea NOT NULL UNIQUE,
    key_hint text NOT NULL,
    rate_limit integer CHECK (rate_limit > 0),
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX api_keys_user ON api_keys (user_id)`,
  `CREATE TABLE projects (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    webhook_url text NOT NULL DEFAULT '',
    is_webhook_enabled boolean NOT NULL DEFAULT false,
    total_spent_usd numeric NOT NULL DEFAULT 0,
    created_by integer NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz
  )`,
  `CREATE TABLE project_members (
    project_id integer NOT NULL REFERENCES projects (id),
    user_id integer NOT NULL REFERENCES users (id),
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, user_id)
  )`,
  `CREATE INDEX project_members_user ON project_members (user_id, project_id)`,
  `CREATE TABLE provider_keys (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id integer NOT NULL REFERENCES projects (id),
    provider text NOT NULL,
    name text NOT NULL,
    key_enc bytea NOT NULL,
    masked_key text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX provider_keys_project ON provider_keys (project_id, provider)`,
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
    copied_from integer REFERENCES workflows (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    archived_at timestamptz
  )`,
  `CREATE INDEX workflows_project ON workflows (project_id, sort_id, id) WHERE archived_at IS NULL`,
  `CREATE TABLE graph_snapshots (
    hash bytea PRIMARY KEY,
    document json NOT NULL,
    plan json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE runs (
    id uuid PRIMARY KEY,
    workflow_id integer NOT NULL REFERENCES workflows (id),
    project_id integer NOT NULL REFERENCES projects (id),
    user_id integer NOT NULL REFERENCES users (id),
    status text NOT NULL CHECK (status IN ('In Progress', 'Succeeded', 'Cancelled', 'Error', 'Draft')),
    snapshot_hash bytea NOT NULL REFERENCES graph_snapshots (hash),
    input json NOT NULL,
    input_enc bytea,
    secrets_enc bytea,
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
    CHECK ((status = 'In Progress') = (run_finished_at IS NULL))
  )`,
  `CREATE INDEX runs_history ON runs (workflow_id, created_at, id)`,
  `CREATE INDEX runs_history_cost ON runs (workflow_id, cost_usd, id)`,
  `CREATE INDEX runs_to_check ON runs (next_check_at) WHERE status = 'In Progress'`,
  `CREATE TABLE node_results (
    run_id uuid NOT NULL REFERENCES runs (id),
    node_id text NOT NULL,
    status text NOT NULL CHECK (status IN ('in progress', 'succeed', 'failed')),
    branch smallint NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 1,
    result json,
    result_enc bytea,
    error_code text,
    error_message text,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz,
    PRIMARY KEY (run_id, node_id)
  ) WITH (fillfactor = 80)`,
  `CREATE TABLE provider_calls (
    run_id uuid NOT NULL REFERENCES runs (id),
    node_id text NOT NULL,
    turn integer NOT NULL DEFAULT 0,
    ordinal integer NOT NULL DEFAULT 0,
    state text NOT NULL CHECK (state IN ('sent', 'applied', 'refused')),
    attempts integer NOT NULL DEFAULT 1,
    crashes integer NOT NULL DEFAULT 0,
    provider text,
    model text,
    usage json,
    price_usd numeric,
    sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    replied_at timestamptz,
    PRIMARY KEY (run_id, node_id, turn, ordinal)
  )`,
  `CREATE TABLE billing_transactions (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    run_id uuid NOT NULL REFERENCES runs (id),
    node_id text NOT NULL,
    project_id integer NOT NULL REFERENCES projects (id),
    user_id integer NOT NULL REFERENCES users (id),
    operation text NOT NULL,
    status text NOT NULL CHECK (status IN ('Succeeded', 'Error')),
    amount_usd numeric NOT NULL DEFAULT 0 CHECK (amount_usd >= 0),
    price_version text NOT NULL DEFAULT '',
    reason text NOT NULL DEFAULT '',
    description text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (run_id, node_id, operation)
  )`,
  // A call that was paid for after its run had ended raises a row that the end of the run wrote with 0.
  // The sums are kept where the rows are written, in the same transaction: run cost = sum of its transactions =
  // growth of the project's total, whoever inserts and whatever dies. Lock order everywhere: run, then project.
  `CREATE FUNCTION add_transaction_to_sums() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE growth numeric := NEW.amount_usd;
  BEGIN
    IF TG_OP = 'UPDATE' THEN growth := NEW.amount_usd - OLD.amount_usd; END IF;
    IF growth = 0 THEN RETURN NULL; END IF;
    UPDATE runs SET cost_usd = cost_usd + growth WHERE id = NEW.run_id;
    UPDATE projects SET total_spent_usd = total_spent_usd + growth WHERE id = NEW.project_id;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER billing_transactions_sums AFTER INSERT OR UPDATE OF amount_usd ON billing_transactions
    FOR EACH ROW WHEN (NEW.amount_usd <> 0) EXECUTE FUNCTION add_transaction_to_sums()`,
];
