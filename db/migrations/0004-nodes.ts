import { sql, type Kysely } from 'kysely';

/**
 * The results, attempts, calls and waits of the nodes of a run. A node is known by its run, the path of the iteration that
 * encloses it (empty outside loops) and its id, here and in every other table that names one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...results, ...calls, ...waits]) await sql.raw(statement).execute(db);
}

const results = [
  // The size of a result is stored with it: it decides whether the result is read together with others or by itself, and
  // to find it out from the stored value means to unpack that. `handle`: 0 for the ordinary links, else the number of
  // the named handle of the kind that the node's links are taken from. `is_handled`: a failure that the run survives.
  // An iteration is a row beside those of its nodes: with their path, and the node id of its loop. So it is closed and
  // emptied with its run, like a node. `is_reused`: the row was copied from the run that this one resumes, so nothing was
  // executed for it, and nothing was paid. `attempt_started_at` is null for the first attempt, which has begun with the
  // node; `step` tells apart the activities of a node that takes several.
  `CREATE TABLE node_results (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    status text NOT NULL CHECK (status IN ('in progress', 'succeed', 'failed')),
    handle smallint NOT NULL DEFAULT 0,
    also_handles smallint[],
    is_handled boolean NOT NULL DEFAULT false,
    is_iteration boolean NOT NULL DEFAULT false,
    iterations integer,
    is_reused boolean NOT NULL DEFAULT false,
    attempts integer NOT NULL DEFAULT 1,
    attempt_started_at timestamptz,
    step text,
    queued_ms integer,
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
  `CREATE INDEX node_results_iterations ON node_results (run_id, node_id, path) WHERE is_iteration`,
  // Attempts before the last one, which is the node's own row: a node that needs one attempt has no row here.
  `CREATE TABLE node_attempts (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    number integer NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    error_code text NOT NULL,
    error_message text,
    PRIMARY KEY (run_id, path, node_id, number)
  )`,
  // Whoever begins another attempt keeps the one before, in the same statement. An attempt that was left without a word
  // was lost with its worker.
  `CREATE FUNCTION keep_lost_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO node_attempts (run_id, path, node_id, number, started_at, finished_at, error_code)
    VALUES (OLD.run_id, OLD.path, OLD.node_id, OLD.attempts, coalesce(OLD.attempt_started_at, OLD.started_at),
      coalesce(NEW.attempt_started_at, clock_timestamp()), 'worker_lost')
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER node_results_attempts AFTER UPDATE OF attempts ON node_results
    FOR EACH ROW WHEN (NEW.attempts > OLD.attempts) EXECUTE FUNCTION keep_lost_attempt()`,
  `CREATE TABLE loop_items (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    index integer NOT NULL,
    item_enc bytea NOT NULL,
    PRIMARY KEY (run_id, path, node_id, index)
  )`,
];

const calls = [
  // A call that is paid for or must not be repeated is claimed here before it leaves. Each model call that was cut off is a
  // row of its own, whose ordinal is the negative number of its attempt. `reserved_usd`: what a call may cost while it is on
  // the wire, then what it has cost, until its node's transaction has it.
  `CREATE TABLE provider_calls (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    turn integer NOT NULL DEFAULT 0,
    ordinal integer NOT NULL DEFAULT 0,
    state text NOT NULL CHECK (state IN ('sent', 'applied', 'refused', 'cut')),
    attempts integer NOT NULL DEFAULT 1,
    crashes integer NOT NULL DEFAULT 0,
    provider text,
    model text,
    usage json,
    input_tokens bigint,
    output_tokens bigint,
    price_usd numeric,
    is_estimated boolean NOT NULL DEFAULT false,
    project_id integer,
    reserved_usd numeric,
    sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    replied_at timestamptz,
    PRIMARY KEY (run_id, path, node_id, turn, ordinal)
  )`,
  `CREATE INDEX provider_calls_reserved ON provider_calls (project_id, run_id) WHERE reserved_usd IS NOT NULL`,
];

const waits = [
  // `until` is null until the node has begun: the token of a callback may be asked for before. A callback is kept in
  // `answer_enc` from the moment on at which it was accepted, and there is only one. The run of a sub-workflow is checked at
  // the commit: the wait is claimed before the run is inserted, so that an attempt that comes second inserts nothing. An agent
  // waits for as many runs as it has called such tools (`call`). A wake whose signal could not be delivered is tried again at
  // `next_signal_at`.
  `CREATE TABLE waits (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    call integer NOT NULL DEFAULT 0,
    kind text NOT NULL CHECK (kind IN ('time', 'callback', 'human', 'child')),
    child_run_id uuid REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    until timestamptz,
    token_hash bytea UNIQUE,
    token_enc bytea,
    answer_enc bytea,
    answered_at timestamptz,
    signalled_at timestamptz,
    next_signal_at timestamptz,
    signal_attempts integer NOT NULL DEFAULT 0,
    closed_at timestamptz,
    PRIMARY KEY (run_id, path, node_id, call),
    CONSTRAINT waits_answer CHECK (answered_at IS NULL OR kind <> 'callback' OR token_hash IS NOT NULL),
    CONSTRAINT waits_child CHECK ((kind = 'child') = (child_run_id IS NOT NULL))
  )`,
  // Answers whose signal is not known to have arrived, also of closed waits, for a Temporal that was restored.
  `CREATE INDEX waits_undelivered ON waits (answered_at) WHERE signalled_at IS NULL AND answered_at IS NOT NULL`,
];
