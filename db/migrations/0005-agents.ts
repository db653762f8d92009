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

  `CREATE TABLE approval_requests (
    request_id text PRIMARY KEY,
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    turn integer NOT NULL,
    ordinal integer NOT NULL,
    server_label text NOT NULL,
    tool_name text NOT NULL,
    arguments json NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected', 'expired')),
    reason text NOT NULL DEFAULT '',
    decided_by integer REFERENCES users (id),
    decided_at timestamptz,
    signalled_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    UNIQUE (run_id, path, node_id, turn, ordinal)
  )`,
  `CREATE INDEX approval_requests_pending ON approval_requests (created_at, request_id) WHERE status = 'pending'`,
  `CREATE INDEX approval_requests_to_signal ON approval_requests (decided_at)
    WHERE signalled_at IS NULL AND decided_by IS NOT NULL`,

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
