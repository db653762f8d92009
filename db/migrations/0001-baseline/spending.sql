-- Transactions, spending limits, and the calls of the chat proxy (docs/adr/0020-money-reserved-with-the-claim.md).

-- The table has no foreign keys for project and user, because they are copies of the run's values, projects and users
-- are never deleted, and the keys would lock two rows that all runs of a project share.
CREATE TABLE billing_transactions (
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
);

COMMENT ON TABLE billing_transactions IS
  'Payments. Writers: the worker, one row an executed node; the end of a run adds the transactions of calls '
  'whose worker died; the API, one row a call of the chat proxy, under the id of the call.';
COMMENT ON COLUMN billing_transactions.run_id IS 'Null for a call of the chat proxy.';
COMMENT ON COLUMN billing_transactions.project_id IS 'Null for a call of the chat proxy that belongs to no project.';
COMMENT ON COLUMN billing_transactions.operation IS 'The node kind''s word, `marketplace_fee`, or `chat`.';
COMMENT ON COLUMN billing_transactions.is_estimated IS
  'True: nobody has reported the tokens; they were estimated from the number of characters.';
COMMENT ON COLUMN billing_transactions.price_version IS 'The price list of the amount; empty for what is free.';

-- Finds the spending of a project in a period.
CREATE INDEX billing_transactions_of_project ON billing_transactions (project_id, created_at);
CREATE INDEX billing_transactions_chat ON billing_transactions (project_id, created_at, id) WHERE run_id IS NULL;
CREATE INDEX billing_transactions_of_user ON billing_transactions (user_id, created_at, id)
  WHERE run_id IS NULL AND project_id IS NULL;

CREATE TABLE chat_calls (
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
) WITH (fillfactor = 80);

COMMENT ON TABLE chat_calls IS
  'The ledger of the chat proxy: a row is inserted before its call leaves. The transaction of a call has the same '
  'id. Writer: the API.';
COMMENT ON COLUMN chat_calls.reserved_usd IS
  'The most that the call may cost while it is open; null once it has its transaction.';
COMMENT ON COLUMN chat_calls.input_tokens IS 'The reserved tokens, later the used ones. So `output_tokens`.';
COMMENT ON COLUMN chat_calls.process_id IS 'The API process that makes the call.';
COMMENT ON COLUMN chat_calls.leased_until IS 'After that its process counts as dead.';

CREATE INDEX chat_calls_reserved ON chat_calls (project_id) WHERE reserved_usd IS NOT NULL;

CREATE TABLE spending_stops (
  project_id integer NOT NULL REFERENCES projects (id),
  day date NOT NULL,
  limited text NOT NULL CHECK (limited IN ('project', 'run', 'agent', 'cases')),
  source text NOT NULL CHECK (source IN ('run', 'chat')),
  calls integer NOT NULL,
  last_run_id uuid REFERENCES runs (id),
  last_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, day, limited, source)
) WITH (fillfactor = 50);

COMMENT ON TABLE spending_stops IS
  'Calls that a limit has stopped on one day: one row, however often a client retries. Writer: the function '
  '`count_stop`; retention deletes old days.';
COMMENT ON COLUMN spending_stops.day IS 'In UTC.';
COMMENT ON COLUMN spending_stops.limited IS
  'Whose limit: the project''s `spending_limit`, a workflow''s `max_run_cost`, or the `max_cost` of an agent or of '
  'cases.';

CREATE TABLE budgets_reached (
  project_id integer NOT NULL REFERENCES projects (id),
  period text NOT NULL,
  period_start date NOT NULL,
  limit_usd numeric NOT NULL,
  reached_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (project_id, period, period_start, limit_usd)
);

COMMENT ON TABLE budgets_reached IS
  'Limits and periods for which the webhook event was written. Writer: the function `tell_budget_reached`.';
