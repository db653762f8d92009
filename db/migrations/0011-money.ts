import { sql, type Kysely } from 'kysely';

/**
 * Transactions, their sums, limits of money, and the calls of the chat proxy in the books. Extensions, section 4; ADR 20.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...tables, ...spent, ...reached, ...reserved]) await sql.raw(statement).execute(db);
}

const tables = [
  // A transaction's project and user are copies of its run's, and nothing deletes a project or a user: foreign keys would
  // take two locks on rows that all runs of a project share. Calls of the chat proxy belong to no run, and perhaps to no
  // project.
  `CREATE TABLE billing_transactions (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    run_id uuid REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    project_id integer,
    user_id integer NOT NULL,
    operation text NOT NULL,
    status text NOT NULL CHECK (status IN ('Succeeded', 'Error')),
    amount_usd numeric NOT NULL DEFAULT 0 CHECK (amount_usd >= 0),
    is_estimated boolean NOT NULL DEFAULT false,
    price_version text NOT NULL DEFAULT '',
    reason text NOT NULL DEFAULT '',
    description text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (run_id, path, node_id, operation),
    CONSTRAINT billing_transactions_run CHECK ((run_id IS NULL) = (operation = 'chat'))
  )`,
  // The index finds what a project has spent in a span of time.
  `CREATE INDEX billing_transactions_of_project ON billing_transactions (project_id, created_at)`,
  `CREATE INDEX billing_transactions_chat ON billing_transactions (project_id, created_at, id) WHERE run_id IS NULL`,
  `CREATE INDEX billing_transactions_of_user ON billing_transactions (user_id, created_at, id)
    WHERE run_id IS NULL AND project_id IS NULL`,
  // Open while `reserved_usd` is there. The transaction of a call has its id.
  `CREATE TABLE chat_calls (
    id uuid PRIMARY KEY,
    project_id integer REFERENCES projects (id),
    user_id integer NOT NULL REFERENCES users (id),
    provider text NOT NULL,
    model text NOT NULL,
    price_version text NOT NULL,
    reserved_usd numeric,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    process_id uuid NOT NULL,
    leased_until timestamptz NOT NULL,
    sent_at timestamptz NOT NULL DEFAULT clock_timestamp()
  ) WITH (fillfactor = 80)`,
  `CREATE INDEX chat_calls_reserved ON chat_calls (project_id) WHERE reserved_usd IS NOT NULL`,
  // A row counts the calls that a limit has stopped on one day, however often a client tries.
  `CREATE TABLE spending_stops (
    project_id integer NOT NULL REFERENCES projects (id),
    day date NOT NULL,
    limited text NOT NULL CHECK (limited IN ('project', 'run', 'agent')),
    source text NOT NULL CHECK (source IN ('run', 'chat')),
    calls integer NOT NULL,
    last_run_id uuid REFERENCES runs (id),
    last_at timestamptz NOT NULL,
    PRIMARY KEY (project_id, day, limited, source)
  ) WITH (fillfactor = 50)`,
  // A row says that the webhook event of this limit was written.
  `CREATE TABLE budgets_reached (
    project_id integer NOT NULL REFERENCES projects (id),
    period text NOT NULL,
    period_start date NOT NULL,
    limit_usd numeric NOT NULL,
    reached_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (project_id, period, period_start, limit_usd)
  )`,
];

const spent = [
  // Periods begin at midnight UTC.
  `CREATE FUNCTION period_start(period text, moment timestamptz) RETURNS date LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE period
      WHEN 'day' THEN (moment AT TIME ZONE 'UTC')::date
      WHEN 'month' THEN date_trunc('month', moment AT TIME ZONE 'UTC')::date
      ELSE '-infinity'::date END
  $$`,
  // The sum is that of the period of the project's limit; without a limit, that of all time.
  `CREATE FUNCTION spent_in_period(project projects, moment timestamptz) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
      WHEN project.spending_period IS NULL OR project.spending_period = 'total' THEN project.total_spent_usd
      WHEN project.spent_on >= period_start(project.spending_period, moment) THEN
        CASE project.spending_period WHEN 'day' THEN project.spent_that_day_usd ELSE project.spent_that_month_usd END
      ELSE 0 END
  $$`,
  // The sums are kept where the rows are written, in the same transaction: the cost of a run is the sum of its
  // transactions and the growth of its project's and workflow's totals, whoever inserts and whatever dies. An amount
  // grows when a call turns out to have been paid for after its run had ended, and sinks where the answer to a call comes
  // after the call was charged as cut off. What is paid counts for the day on which it is recorded. A clock that is set back
  // begins no new day. Lock order everywhere: run, then project.
  `CREATE FUNCTION add_transaction_to_sums() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    growth numeric := NEW.amount_usd;
    today date := period_start('day', clock_timestamp());
    run_workflow_id integer;
  BEGIN
    IF TG_OP = 'UPDATE' THEN growth := NEW.amount_usd - OLD.amount_usd; END IF;
    IF growth = 0 THEN RETURN NULL; END IF;
    IF NEW.run_id IS NOT NULL THEN
      UPDATE runs SET cost_usd = cost_usd + growth WHERE id = NEW.run_id RETURNING workflow_id INTO run_workflow_id;
    END IF;
    UPDATE projects SET total_spent_usd = total_spent_usd + growth,
      spent_that_day_usd = CASE WHEN spent_on >= today THEN spent_that_day_usd ELSE 0 END + growth,
      spent_that_month_usd = CASE WHEN spent_on >= date_trunc('month', today)::date THEN spent_that_month_usd ELSE 0 END + growth,
      spent_on = greatest(spent_on, today)
    WHERE id = NEW.project_id;
    IF NEW.run_id IS NOT NULL THEN
      INSERT INTO workflow_changes (workflow_id, cost_usd) VALUES (run_workflow_id, growth);
    END IF;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER billing_transactions_sums AFTER INSERT OR UPDATE OF amount_usd ON billing_transactions
    FOR EACH ROW WHEN (NEW.amount_usd <> 0) EXECUTE FUNCTION add_transaction_to_sums()`,
  `CREATE TRIGGER billing_transactions_sunk AFTER UPDATE OF amount_usd ON billing_transactions
    FOR EACH ROW WHEN (NEW.amount_usd = 0 AND OLD.amount_usd <> 0) EXECUTE FUNCTION add_transaction_to_sums()`,
];

const reached = [
  // The webhook event, once for a period and value of the limit.
  `CREATE FUNCTION tell_budget_reached(asked_project integer) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO budgets_reached (project_id, period, period_start, limit_usd)
    SELECT id, spending_period, period_start(spending_period, clock_timestamp()), spending_limit_usd
    FROM projects WHERE id = asked_project AND spending_limit_usd IS NOT NULL
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN RETURN; END IF;
    INSERT INTO webhook_deliveries (project_id, type, payload)
    SELECT id, 'project.budget_reached', format(
      '{"type":"%s","timestamp":"%s","data":{"project_id":%s,"spending_limit":{"amount":"%s","period":"%s"}}}',
      'project.budget_reached', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      id, trim_scale(spending_limit_usd), spending_period)
    FROM projects
    WHERE id = asked_project AND is_webhook_enabled AND webhook_url <> '' AND deleted_at IS NULL;
  END $$`,
  `CREATE FUNCTION note_spending() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF spent_in_period(NEW, clock_timestamp()) >= NEW.spending_limit_usd THEN PERFORM tell_budget_reached(NEW.id); END IF;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER projects_spending AFTER UPDATE OF total_spent_usd, spending_limit_usd, spending_period ON projects
    FOR EACH ROW WHEN (NEW.spending_limit_usd IS NOT NULL) EXECUTE FUNCTION note_spending()`,
];

// Each function returns no row where the call may be made, and else the limit that it would pass. Who is let through holds
// locks until its commit, with which its reservation is there for the next one; the functions are volatile, so that each
// statement in them sees what was committed before it. Lock order: the first run of all above, then the project.
const reserved = [
  // A call on the wire counts in every period; one that is paid counts in the period in which its answer came.
  `CREATE FUNCTION period_begin(asked_project integer) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT period_start(spending_period, clock_timestamp())::timestamp AT TIME ZONE 'UTC' FROM projects
    WHERE id = asked_project
  $$`,
  // A run that has ended holds nothing.
  `CREATE FUNCTION reserved_in_project(asked_project integer) RETURNS numeric LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT sum(call.reserved_usd) FROM provider_calls AS call JOIN runs ON runs.id = call.run_id
        WHERE call.project_id = asked_project AND call.reserved_usd IS NOT NULL AND runs.status = 'In Progress'
          AND (call.state <> 'applied' OR call.replied_at >= (SELECT period_begin(asked_project)))), 0)
      + coalesce((SELECT sum(reserved_usd) FROM chat_calls
        WHERE project_id = asked_project AND reserved_usd IS NOT NULL), 0)
  $$`,
  `CREATE FUNCTION count_stop(of_project integer, by_limit text, of_run uuid) RETURNS void LANGUAGE sql AS $$
    INSERT INTO spending_stops AS stop (project_id, day, limited, source, calls, last_run_id, last_at)
    VALUES (of_project, period_start('day', clock_timestamp()), by_limit,
      CASE WHEN of_run IS NULL THEN 'chat' ELSE 'run' END, 1, of_run, clock_timestamp())
    ON CONFLICT (project_id, day, limited, source) DO UPDATE
      SET calls = stop.calls + 1, last_run_id = excluded.last_run_id, last_at = excluded.last_at
  $$`,
  `CREATE FUNCTION refuse_in_project(asked_project integer, price numeric, own numeric, asked_run uuid)
    RETURNS TABLE (limited text, limit_usd numeric, period text, spent_usd numeric, reserved_usd numeric)
    LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM FROM projects WHERE id = asked_project AND spending_limit_usd IS NOT NULL;
    IF NOT FOUND OR price = 0 THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(hashtext('spending'), asked_project);
    RETURN QUERY SELECT * FROM (
      SELECT 'project', project.spending_limit_usd, project.spending_period,
        spent_in_period(project, clock_timestamp()) AS spent, reserved_in_project(asked_project) - own AS reserved
      FROM projects AS project WHERE project.id = asked_project) AS found
    WHERE found.spent + found.reserved + price > found.spending_limit_usd;
    IF NOT FOUND THEN RETURN; END IF;
    PERFORM count_stop(asked_project, 'project', asked_run);
    -- A call that is too large for the whole limit says nothing of what is left of it.
    PERFORM tell_budget_reached(id) FROM projects
    WHERE id = asked_project
      AND (price <= spending_limit_usd OR spent_in_period(projects, clock_timestamp()) >= spending_limit_usd);
  END $$`,
  // The limits of a run and of the runs and agents above it.
  `CREATE FUNCTION limits_of_call(asked_run uuid, asked_path text, asked_node text, own_limit numeric)
    RETURNS TABLE (limited text, run_id uuid, path text, node_id text, limit_usd numeric) LANGUAGE sql STABLE AS $$
    WITH RECURSIVE above AS (
      SELECT id, workflow_id, parent_run_id, parent_path, parent_node_id FROM runs WHERE id = asked_run
      UNION ALL
      SELECT run.id, run.workflow_id, run.parent_run_id, run.parent_path, run.parent_node_id
      FROM runs AS run JOIN above ON run.id = above.parent_run_id
    )
    SELECT 'agent', asked_run, asked_path, asked_node, own_limit WHERE own_limit IS NOT NULL
    UNION ALL
    SELECT 'run', above.id, NULL, NULL, workflow.max_run_cost_usd
    FROM above JOIN workflows AS workflow ON workflow.id = above.workflow_id
    WHERE workflow.max_run_cost_usd IS NOT NULL
    UNION ALL
    SELECT 'agent', above.parent_run_id, above.parent_path, above.parent_node_id, agent.max_cost_usd
    FROM above JOIN agent_sessions AS agent ON agent.run_id = above.parent_run_id AND agent.path = above.parent_path
      AND agent.node_id = above.parent_node_id
    WHERE agent.max_cost_usd IS NOT NULL
  $$`,
  // The money of some runs and of all runs below them.
  `CREATE FUNCTION money_of_runs(asked uuid[], of_project integer, OUT spent numeric, OUT reserved numeric)
    LANGUAGE sql STABLE AS $$
    WITH RECURSIVE below AS (
      SELECT id, cost_usd, status FROM runs WHERE id = ANY (asked)
      UNION ALL
      SELECT child.id, child.cost_usd, child.status FROM runs AS child JOIN below ON child.parent_run_id = below.id
    )
    SELECT coalesce(sum(below.cost_usd), 0), coalesce((
      SELECT sum(call.reserved_usd) FROM provider_calls AS call
      WHERE call.project_id = of_project AND call.reserved_usd IS NOT NULL
        AND call.run_id IN (SELECT id FROM below WHERE status = 'In Progress')), 0)
    FROM below
  $$`,
  // The money of a first run and of all runs below it, by the index of those.
  `CREATE FUNCTION money_below_root(root uuid, of_project integer, OUT spent numeric, OUT reserved numeric)
    LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT cost_usd FROM runs WHERE id = root), 0)
        + coalesce((SELECT sum(cost_usd) FROM runs WHERE root_run_id = root), 0),
      coalesce((SELECT sum(call.reserved_usd) FROM provider_calls AS call JOIN runs ON runs.id = call.run_id
        WHERE call.project_id = of_project AND call.reserved_usd IS NOT NULL AND runs.status = 'In Progress'
          AND (runs.id = root OR runs.root_run_id = root)), 0)
  $$`,
  `CREATE FUNCTION refuse_call(asked_run uuid, asked_path text, asked_node text, asked_turn integer, price numeric,
      own_limit numeric)
    RETURNS TABLE (limited text, limit_usd numeric, period text, spent_usd numeric, reserved_usd numeric)
    LANGUAGE plpgsql AS $$
  DECLARE
    of_project integer;
    root uuid;
    is_run_limited boolean;
    is_project_limited boolean;
    own numeric;
    place record;
    money record;
    is_itself boolean;
  BEGIN
    IF price = 0 THEN RETURN; END IF;
    SELECT run.project_id, coalesce(run.root_run_id, run.id), project.spending_limit_usd IS NOT NULL,
      own_limit IS NOT NULL OR workflow.max_run_cost_usd IS NOT NULL OR (run.parent_run_id IS NOT NULL
        AND EXISTS (SELECT FROM limits_of_call(asked_run, asked_path, asked_node, NULL)))
    INTO of_project, root, is_project_limited, is_run_limited
    FROM runs AS run JOIN projects AS project ON project.id = run.project_id
      JOIN workflows AS workflow ON workflow.id = run.workflow_id
    WHERE run.id = asked_run;
    IF NOT (is_run_limited OR is_project_limited) THEN RETURN; END IF;
    -- An attempt that repeats a call has its reservation already.
    SELECT coalesce(sum(call.reserved_usd), 0) INTO own FROM provider_calls AS call
    WHERE call.run_id = asked_run AND call.path = asked_path AND call.node_id = asked_node
      AND call.turn = asked_turn AND call.ordinal = 0;
    IF is_run_limited THEN
      PERFORM pg_advisory_xact_lock(hashtextextended(root::text, 25));
      FOR place IN SELECT * FROM limits_of_call(asked_run, asked_path, asked_node, own_limit) LOOP
        IF place.limited = 'run' THEN
          IF place.run_id = root THEN
            SELECT * INTO money FROM money_below_root(root, of_project);
          ELSE
            SELECT * INTO money FROM money_of_runs(ARRAY[place.run_id], of_project);
          END IF;
          money.reserved := money.reserved - own;
        ELSE
          is_itself := place.run_id = asked_run AND place.path = asked_path AND place.node_id = asked_node;
          SELECT found.spent + coalesce((SELECT sum(call.price_usd) FROM provider_calls AS call
              WHERE call.run_id = place.run_id AND call.path = place.path AND call.node_id = place.node_id), 0) AS spent,
            found.reserved - CASE WHEN is_itself THEN 0 ELSE own END AS reserved
          INTO money
          FROM money_of_runs(ARRAY(SELECT started.id FROM runs AS started
            WHERE started.parent_run_id = place.run_id AND started.parent_path = place.path
              AND started.parent_node_id = place.node_id), of_project) AS found;
        END IF;
        IF money.spent + money.reserved + price > place.limit_usd THEN
          PERFORM count_stop(of_project, place.limited, asked_run);
          RETURN QUERY SELECT place.limited::text, place.limit_usd::numeric, NULL::text, money.spent::numeric, money.reserved::numeric;
          RETURN;
        END IF;
      END LOOP;
    END IF;
    IF is_project_limited THEN
      RETURN QUERY SELECT * FROM refuse_in_project(of_project, price, own, asked_run);
    END IF;
  END $$`,
];
