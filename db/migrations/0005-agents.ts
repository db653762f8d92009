import { sql, type Kysely } from 'kysely';

/** The durable steps of agents: what was said, which tools were called, who approved. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `CREATE TABLE agent_sessions (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    tools_enc bytea NOT NULL,
    max_cost_usd numeric,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, path, node_id)
  )`,
  // One row a turn: the model's message. Append only.
  `CREATE TABLE agent_turns (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    turn integer NOT NULL,
    is_final boolean NOT NULL,
    message_enc bytea NOT NULL,
    usage json,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, path, node_id, turn)
  )`,
  // The project is a copy of the run's, by which the requests of a user are found. The label is a copy of the drawing's: to
  // read it there means to parse the whole drawing for each request. `edited_arguments` is what readers see, its secrets
  // masked; `edited_enc` is what is sent. `counted` counts the decisions that were counted and have not settled the request,
  // for those who ask whether anything has changed.
  `CREATE TABLE approval_requests (
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
  )`,
  // Lists and their totals read an index alone. However many requests have been decided, those that an inbox asks for are
  // few.
  `CREATE INDEX approval_requests_newest ON approval_requests (project_id, created_at, request_id)
    INCLUDE (status, expires_at)`,
  `CREATE INDEX approval_requests_pending ON approval_requests (project_id, created_at, request_id)
    INCLUDE (expires_at) WHERE status = 'pending'`,
  `CREATE INDEX approval_requests_to_signal ON approval_requests (decided_at)
    WHERE signalled_at IS NULL AND decided_by IS NOT NULL`,
  // Append only. A person counts once for the same arguments.
  `CREATE TABLE approval_decisions (
    request_id text NOT NULL REFERENCES approval_requests (request_id) ON DELETE CASCADE,
    user_id integer NOT NULL REFERENCES users (id),
    decision text NOT NULL CHECK (decision IN ('approved', 'rejected')),
    arguments_hash text NOT NULL,
    reason text NOT NULL DEFAULT '',
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (request_id, user_id, arguments_hash, decision)
  )`,
  `CREATE TABLE agent_tool_calls (
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
  )`,
  // Whether an approval is still referred to is asked by retention, and by the foreign key on each deletion.
  `CREATE INDEX agent_tool_calls_request ON agent_tool_calls (request_id) WHERE request_id IS NOT NULL`,
];
