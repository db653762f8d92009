-- The sums of costs, and the webhook event of a reached limit.

-- Periods start at midnight UTC.
CREATE OR REPLACE FUNCTION period_start(period text, moment timestamptz) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE period
    WHEN 'day' THEN (moment AT TIME ZONE 'UTC')::date
    WHEN 'month' THEN date_trunc('month', moment AT TIME ZONE 'UTC')::date
    ELSE '-infinity'::date END
$$;

-- Returns the spending of the project in the period of its limit, or of all time if it has no limit.
CREATE OR REPLACE FUNCTION spent_in_period(project projects, moment timestamptz) RETURNS numeric
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN project.spending_period IS NULL OR project.spending_period = 'total' THEN project.total_spent_usd
    WHEN project.spent_on >= period_start(project.spending_period, moment) THEN
      CASE project.spending_period WHEN 'day' THEN project.spent_that_day_usd ELSE project.spent_that_month_usd END
    ELSE 0 END
$$;

-- Updates the sums in the transaction that writes the row (docs/adr/0003-sums-by-trigger.md). The cost of a run is the
-- sum of its transactions, and the totals of its project and workflow grow by it. This holds for every writer and every
-- crash. An amount grows if a call proves to be paid after the end of its run, and decreases if the answer arrives
-- after the call was charged as cut off. A payment counts for the day on which it is recorded. A clock that is set back
-- starts no new day. The project also pays for test runs, but these change no average. Lock order everywhere: run, then
-- project.
CREATE OR REPLACE FUNCTION add_transaction_to_sums() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  growth numeric := NEW.amount_usd;
  today date := period_start('day', clock_timestamp());
  run_workflow_id integer;
  run_purpose text;
BEGIN
  IF TG_OP = 'UPDATE' THEN growth := NEW.amount_usd - OLD.amount_usd; END IF;
  IF growth = 0 THEN RETURN NULL; END IF;
  IF NEW.run_id IS NOT NULL THEN
    UPDATE runs SET cost_usd = cost_usd + growth WHERE id = NEW.run_id
    RETURNING workflow_id, purpose INTO run_workflow_id, run_purpose;
  END IF;
  UPDATE projects SET total_spent_usd = total_spent_usd + growth,
    spent_that_day_usd = CASE WHEN spent_on >= today THEN spent_that_day_usd ELSE 0 END + growth,
    spent_that_month_usd =
      CASE WHEN spent_on >= date_trunc('month', today)::date THEN spent_that_month_usd ELSE 0 END + growth,
    spent_on = greatest(spent_on, today)
  WHERE id = NEW.project_id;
  IF run_purpose = 'run' THEN
    INSERT INTO workflow_changes (workflow_id, cost_usd) VALUES (run_workflow_id, growth);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER billing_transactions_sums AFTER INSERT OR UPDATE OF amount_usd ON billing_transactions
  FOR EACH ROW WHEN (NEW.amount_usd <> 0) EXECUTE FUNCTION add_transaction_to_sums();

CREATE OR REPLACE TRIGGER billing_transactions_sunk AFTER UPDATE OF amount_usd ON billing_transactions
  FOR EACH ROW WHEN (NEW.amount_usd = 0 AND OLD.amount_usd <> 0) EXECUTE FUNCTION add_transaction_to_sums();

-- Writes the webhook event once for each period and value of the limit.
CREATE OR REPLACE FUNCTION tell_budget_reached(asked_project integer) RETURNS void LANGUAGE plpgsql AS $$
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
END $$;

CREATE OR REPLACE FUNCTION note_spending() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF spent_in_period(NEW, clock_timestamp()) >= NEW.spending_limit_usd THEN PERFORM tell_budget_reached(NEW.id); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER projects_spending
  AFTER UPDATE OF total_spent_usd, spending_limit_usd, spending_period ON projects
  FOR EACH ROW WHEN (NEW.spending_limit_usd IS NOT NULL) EXECUTE FUNCTION note_spending();
