-- The durable steps of agents: messages, tool calls, approvals.

CREATE TABLE agent_sessions (
  run_id uuid NOT NULL REFERENCES runs (id),
  path text NOT NULL DEFAULT '',
  node_id text NOT NULL,
  tools_enc bytea NOT NULL,
  max_cost_usd numeric,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (run_id, path, node_id)
);

COMMENT ON TABLE agent_sessions IS
  'The tools of an agent, fixed at its first turn. Writer: the worker; retention deletes what has expired.';
COMMENT ON COLUMN agent_sessions.tools_enc IS 'Sealed JSON of `AgentTool[]` (db/agents/agent-tools.ts).';
COMMENT ON COLUMN agent_sessions.max_cost_usd IS
  'The `max_cost` of the agent; null: no limit. The runs that its tools start read it.';

CREATE TABLE agent_turns (
  run_id uuid NOT NULL REFERENCES runs (id),
  path text NOT NULL DEFAULT '',
  node_id text NOT NULL,
  turn integer NOT NULL,
  is_final boolean NOT NULL,
  message_enc bytea NOT NULL,
  usage json,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (run_id, path, node_id, turn)
);

COMMENT ON TABLE agent_turns IS
  'The model''s message of each turn. Append only. Writer: the worker; retention deletes what has expired.';
COMMENT ON COLUMN agent_turns.message_enc IS 'Sealed JSON of the assistant message.';

CREATE TABLE approval_requests (
  request_id text PRIMARY KEY,
  run_id uuid NOT NULL REFERENCES runs (id),
  path text NOT NULL DEFAULT '',
  node_id text NOT NULL,
  project_id integer NOT NULL,
  node_label text NOT NULL DEFAULT '',
  turn integer NOT NULL,
  ordinal integer NOT NULL,
  server_label text NOT NULL,
  tool_name text NOT NULL,
  arguments json NOT NULL,
  arguments_hash text NOT NULL DEFAULT '',
  edited_arguments json,
  edited_enc bytea,
  required smallint NOT NULL DEFAULT 1,
  exclude_starter boolean NOT NULL DEFAULT false,
  only_user integer,
  roles text[],
  counted integer NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected', 'expired')),
  reason text NOT NULL DEFAULT '',
  decided_by integer REFERENCES users (id),
  decided_at timestamptz,
  signalled_at timestamptz,
  next_signal_at timestamptz,
  signal_attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  UNIQUE (run_id, path, node_id, turn, ordinal),
  CONSTRAINT approval_requests_edit CHECK ((edited_arguments IS NULL) = (edited_enc IS NULL))
);

COMMENT ON TABLE approval_requests IS
  'Tool calls that people have to approve. Writers: the worker inserts and expires; the API decides, under the lock '
  'of the row; retention deletes what has expired.';
COMMENT ON COLUMN approval_requests.project_id IS 'A copy of the run''s, by which the requests of a user are found.';
COMMENT ON COLUMN approval_requests.node_label IS
  'The label as drawn when the run was accepted, at most 60 characters: reading it there means parsing the whole '
  'drawing for each request.';
COMMENT ON COLUMN approval_requests.arguments IS
  'The arguments that the model gave, as they are shown: secrets masked.';
COMMENT ON COLUMN approval_requests.arguments_hash IS
  'The hash of the arguments that would be sent (`db/agents/arguments-hash.ts`).';
COMMENT ON COLUMN approval_requests.edited_arguments IS
  'The arguments by which a person has replaced them, as they are shown.';
COMMENT ON COLUMN approval_requests.edited_enc IS 'The edited arguments as they are sent: JSON text, sealed.';
COMMENT ON COLUMN approval_requests.required IS 'How many people must approve.';
COMMENT ON COLUMN approval_requests.exclude_starter IS 'True: the person who started the run may not decide.';
COMMENT ON COLUMN approval_requests.only_user IS
  'The only person who sees the request of a test run and may decide; null for other runs.';
COMMENT ON COLUMN approval_requests.roles IS 'The people who may decide; null for everybody who may draw.';
COMMENT ON COLUMN approval_requests.counted IS
  'How many decisions were counted and have not settled the request: versions of the run count them.';
COMMENT ON COLUMN approval_requests.reason IS
  'The reason of the decision that settled the request, as are `decided_by` and `decided_at`.';
COMMENT ON COLUMN approval_requests.signalled_at IS
  'When the run workflow took the signal. The API repeats the signal while it is null.';
COMMENT ON COLUMN approval_requests.signal_attempts IS
  'How many further signals the API has sent; `next_signal_at` is the time of the next one, null for at once.';

-- Lists and their totals read only an index. The second index serves inboxes, which read few of many requests.
CREATE INDEX approval_requests_newest ON approval_requests (project_id, created_at, request_id)
  INCLUDE (status, expires_at, only_user);
CREATE INDEX approval_requests_pending ON approval_requests (project_id, created_at, request_id)
  INCLUDE (expires_at, only_user) WHERE status = 'pending';
CREATE INDEX approval_requests_to_signal ON approval_requests (decided_at)
  WHERE signalled_at IS NULL AND decided_by IS NOT NULL;

-- A decision of a person counts once for the same arguments.
CREATE TABLE approval_decisions (
  request_id text NOT NULL REFERENCES approval_requests (request_id) ON DELETE CASCADE,
  user_id integer NOT NULL REFERENCES users (id),
  decision text NOT NULL CHECK (decision IN ('approved', 'rejected')),
  arguments_hash text NOT NULL,
  reason text NOT NULL DEFAULT '',
  decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (request_id, user_id, arguments_hash, decision)
);

COMMENT ON TABLE approval_decisions IS 'The decisions on requests, one row a person. Append only. Writer: the API.';
COMMENT ON COLUMN approval_decisions.arguments_hash IS 'The hash of the arguments that were decided on.';

CREATE TABLE agent_tool_calls (
  run_id uuid NOT NULL REFERENCES runs (id),
  path text NOT NULL DEFAULT '',
  node_id text NOT NULL,
  turn integer NOT NULL,
  ordinal integer NOT NULL,
  tool_call_id text NOT NULL,
  server_label text,
  tool_name text NOT NULL,
  arguments_enc bytea NOT NULL,
  request_id text REFERENCES approval_requests (request_id),
  outcome text CHECK (outcome IN ('result', 'tool_error', 'rejected', 'expired', 'invalid')),
  answer_enc bytea,
  finished_at timestamptz,
  PRIMARY KEY (run_id, path, node_id, turn, ordinal)
);

COMMENT ON TABLE agent_tool_calls IS
  'Every tool call that a model asked for, and its answer once there is one. Writer: the worker; retention deletes '
  'what has expired.';
COMMENT ON COLUMN agent_tool_calls.tool_call_id IS 'The provider''s id of the call.';
COMMENT ON COLUMN agent_tool_calls.server_label IS 'Null for a tool that does not exist.';
COMMENT ON COLUMN agent_tool_calls.arguments_enc IS 'Sealed text, exactly as the model wrote it.';
COMMENT ON COLUMN agent_tool_calls.answer_enc IS 'Sealed text of what the model gets as the answer.';

-- Retention needs this index, and so does the foreign key at each deletion of a request.
CREATE INDEX agent_tool_calls_request ON agent_tool_calls (request_id) WHERE request_id IS NOT NULL;

CREATE TABLE refused_tools (
  workflow_id integer NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  version integer NOT NULL,
  node_id text NOT NULL,
  server_label text NOT NULL,
  tools json NOT NULL,
  PRIMARY KEY (workflow_id, version, node_id, server_label)
);

COMMENT ON TABLE refused_tools IS
  'For each server of an agent, tools of the last listing that the agent cannot be offered, for the present version '
  'of the drawing: `check_workflow` asks no server. Writers: the worker and the API, after a listing.';
COMMENT ON COLUMN refused_tools.tools IS 'A list of `RefusedTool` (db/agents/refused-tools-repository.ts).';
