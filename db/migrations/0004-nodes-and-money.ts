import { sql, type Kysely } from 'kysely';

/**
 * What the nodes of a run put out, which calls they made, and what that cost. A node is known by its run, the path of the
 * iteration that encloses it (empty outside loops) and its id, here and in every other table that names one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...nodes, ...money]) await sql.raw(statement).execute(db);
}

const nodes = [
  // The size of a result is stored with it: it decides whether the result is read together with others or by itself, and
  // to find it out from the stored value means to unpack that. `handle`: 0 for the ordinary links, else the number of
  // the named handle of the kind that the node's links are taken from.
  `CREATE TABLE node_results (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    status text NOT NULL CHECK (status IN ('in progress', 'succeed', 'failed')),
    handle smallint NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 1,
    result json,
    result_bytes integer,
    result_enc bytea,
    error_code text,
    error_message text,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz,
    PRIMARY KEY (run_id, path, node_id),
    CONSTRAINT node_results_counted CHECK (result IS NULL OR result_bytes IS NOT NULL)
  ) WITH (fillfactor = 80)`,

  // A call that is paid for or must not be repeated is claimed here before it leaves.
  `CREATE TABLE provider_calls (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
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
    PRIMARY KEY (run_id, path, node_id, turn, ordinal)
  )`,
];

const money = [
  // A transaction's project and user are copies of its run's, and nothing deletes a project or a user: foreign keys would
  // take two locks on rows that all runs of a project share.
  `CREATE TABLE billing_transactions (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    project_id integer NOT NULL,
    user_id integer NOT NULL,
    operation text NOT NULL,
    status text NOT NULL CHECK (status IN ('Succeeded', 'Error')),
    amount_usd numeric NOT NULL DEFAULT 0 CHECK (amount_usd >= 0),
    price_version text NOT NULL DEFAULT '',
    reason text NOT NULL DEFAULT '',
    description text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (run_id, path, node_id, operation)
  )`,
  // The sums are kept where the rows are written, in the same transaction: the cost of a run is the sum of its
  // transactions and the growth of its project's and workflow's totals, whoever inserts and whatever dies. An amount
  // grows when a call turns out to have been paid for after its run had ended. Lock order everywhere: run, then project.
  `CREATE FUNCTION add_transaction_to_sums() RETURNS trigger LANGUAGE plpgsql AS $$
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
  `CREATE TRIGGER billing_transactions_sums AFTER INSERT OR UPDATE OF amount_usd ON billing_transactions
    FOR EACH ROW WHEN (NEW.amount_usd <> 0) EXECUTE FUNCTION add_transaction_to_sums()`,
];
