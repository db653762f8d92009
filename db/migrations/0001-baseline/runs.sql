-- Runs, their outputs, and the keys of repeated starts.

-- The vacuum settings keep the visibility map fresh, so that deep pages of a history skip rows by an index only.
CREATE TABLE runs (
  id uuid PRIMARY KEY,
  workflow_id integer NOT NULL REFERENCES workflows (id),
  project_id integer NOT NULL REFERENCES projects (id),
  user_id integer NOT NULL REFERENCES users (id),
  status text NOT NULL CHECK (status IN ('In Progress', 'Succeeded', 'Cancelled', 'Error', 'Draft')),
  purpose text NOT NULL DEFAULT 'run' CHECK (purpose IN ('run', 'test')),
  workflow_version integer DEFAULT 1,
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
  conversation_id uuid,
  is_queued boolean NOT NULL DEFAULT false,
  is_plain boolean NOT NULL DEFAULT false,
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
  autovacuum_analyze_scale_factor = 0.02);

COMMENT ON TABLE runs IS
  'Runs. Writers: run acceptance (insert), the API (flags), `startRun` and `endRun`, the reconciler '
  '(when to look next), retention (what of it is gone), and a trigger on `billing_transactions` (`cost_usd`).';
COMMENT ON COLUMN runs.workflow_version IS
  'The version of the drawing at acceptance; null for the test of a drawing that is not stored.';
COMMENT ON COLUMN runs.input IS 'As it leaves the service: secrets masked, defaults filled in.';
COMMENT ON COLUMN runs.input_enc IS 'The whole unmasked input, sealed; null when nothing is masked.';
COMMENT ON COLUMN runs.secrets_enc IS 'The secrets of the drawing at acceptance, sealed.';
COMMENT ON COLUMN runs.passed_secrets_enc IS
  'Secrets of other runs that this one must mask, too, sealed: of the run that started it, and of the runs that its '
  'nodes started. Null where there are none.';
COMMENT ON COLUMN runs.parent_run_id IS
  'The run whose node started this one; null for a run that no other one started.';
COMMENT ON COLUMN runs.root_run_id IS 'The first of the runs above it; null for a run that no other one started.';
COMMENT ON COLUMN runs.depth IS 'How many runs are above it.';
COMMENT ON COLUMN runs.resumed_from IS 'The earlier run whose results it reuses.';
COMMENT ON COLUMN runs.conversation_id IS 'The conversation in which it answers a message.';
COMMENT ON COLUMN runs.is_queued IS
  'True until its turn in the conversation has come. A queued run is accepted, and gets its input and its graph '
  'with its turn.';
COMMENT ON COLUMN runs.is_plain IS
  'True: the plan has no node that waits, loops or asks a person (`isPlain`), so the version counts only the rows of '
  '`node_results` with an empty path. False if the plan was not examined.';
COMMENT ON COLUMN runs.traceparent IS
  'W3C trace context of the request that it was accepted in; null while nothing is traced.';
COMMENT ON COLUMN runs.sequence IS 'The number of the last report that was applied.';
COMMENT ON COLUMN runs.node_errors IS 'The errors of a `Draft`: node id -> [{path: message}].';
COMMENT ON COLUMN runs.next_check_at IS 'When the reconciler looks at the run next; null once it has ended.';
COMMENT ON COLUMN runs.stuck_since IS
  'Since when its workflow task fails again and again; null if the last check found it well.';
COMMENT ON COLUMN runs.results_expired_at IS
  'From then on the contents of the run count as gone, and no flag brings them back.';
COMMENT ON COLUMN runs.is_purge_pending IS 'True: expired, and some of its contents are still to be deleted.';
COMMENT ON COLUMN runs.is_input_lost IS 'True: the unmasked input has expired, and `input` lacks what is masked in it.';

CREATE INDEX runs_history ON runs (workflow_id, purpose, created_at, id) INCLUDE (status);
CREATE INDEX runs_history_cost ON runs (workflow_id, purpose, cost_usd, id) INCLUDE (status);
-- A workflow has at most one API run and one template run, even if several requests set the flags at once.
CREATE UNIQUE INDEX runs_api_run ON runs (workflow_id) WHERE is_api_run;
CREATE UNIQUE INDEX runs_template ON runs (workflow_id) WHERE use_as_marketplace_template;
-- Only open runs have a next check. The condition does not contain the status, because every statement of a running
-- node does: if there are few open runs, the planner would use this index for these statements and scan all open runs
-- instead of finding the run by its id.
CREATE INDEX runs_to_check ON runs (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX runs_stuck ON runs (stuck_since) WHERE status = 'In Progress' AND stuck_since IS NOT NULL;
-- Excludes pinned runs, because retention would otherwise read them in every round.
CREATE INDEX runs_to_expire ON runs (run_finished_at)
  WHERE run_finished_at IS NOT NULL AND results_expired_at IS NULL
    AND NOT is_api_run AND NOT use_in_marketplace_example AND NOT use_as_marketplace_template;
CREATE INDEX runs_to_purge ON runs (results_expired_at) WHERE is_purge_pending;
-- Retention needs this index, and so does the foreign key at each deletion of a graph.
CREATE INDEX runs_snapshot ON runs (snapshot_hash);
-- This index and the next one find the cost of a run with the runs below it, and the number of runs below a root run.
CREATE INDEX runs_children ON runs (parent_run_id) INCLUDE (cost_usd) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_below_root ON runs (root_run_id) WHERE root_run_id IS NOT NULL;
CREATE INDEX runs_of_conversation ON runs (conversation_id)
  WHERE conversation_id IS NOT NULL AND status = 'In Progress';

-- The output is that of the first output node whose end is recorded. If several end at the same time, the primary key
-- admits one. The row never changes, so an output that was shown stays the same.
CREATE TABLE run_outputs (
  run_id uuid PRIMARY KEY REFERENCES runs (id),
  path text NOT NULL DEFAULT '',
  node_id text NOT NULL,
  value_start integer NOT NULL CHECK (value_start > 0)
);

COMMENT ON TABLE run_outputs IS
  'The node that gave a run its output. Writers: the worker, with the end of the output node, and the acceptance of '
  'a run that reuses results; retention deletes what has expired.';
COMMENT ON COLUMN run_outputs.value_start IS
  'The position of the value in the text of the node''s result (`valueStartOf`), up to the last brace: the value is '
  'not stored twice.';

-- The foreign key is deferred, because the key is claimed before the run is inserted, so that a second request inserts
-- nothing.
CREATE TABLE idempotency_keys (
  user_id integer NOT NULL REFERENCES users (id),
  key text NOT NULL,
  request_enc bytea NOT NULL,
  run_id uuid REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, key)
);

COMMENT ON TABLE idempotency_keys IS
  'Keys of repeated run starts. A row counts for 24 hours. Writer: run acceptance, in one transaction with the run; '
  'retention deletes old rows.';
COMMENT ON COLUMN idempotency_keys.request_enc IS
  'The request that had the key, hashed and sealed: from a plain hash a short secret could be guessed.';
COMMENT ON COLUMN idempotency_keys.run_id IS 'Null: the key was withdrawn, and no request with it starts a run.';

CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE tool_tasks (
  user_id integer NOT NULL REFERENCES users (id),
  created_at timestamptz NOT NULL DEFAULT now(),
  run_id uuid NOT NULL REFERENCES runs (id),
  PRIMARY KEY (user_id, created_at, run_id)
);

COMMENT ON TABLE tool_tasks IS
  'Runs that MCP clients have started as tasks. Writer: the acceptance of MCP calls, in one transaction with the '
  'run; retention deletes the row with the results of the run.';

CREATE INDEX tool_tasks_of ON tool_tasks (run_id);
