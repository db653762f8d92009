-- Results, attempts, calls and waits of the nodes of a run. A node is identified by its run, the path of the iteration
-- that encloses it (empty outside loops) and its id, here and in every other table that names one.

CREATE TABLE node_results (
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
  source text,
  is_stale boolean NOT NULL DEFAULT false,
  attempts integer NOT NULL DEFAULT 1,
  attempt_started_at timestamptz,
  spared integer NOT NULL DEFAULT 0,
  worker uuid,
  isolation text,
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
  CONSTRAINT node_results_counted CHECK (result IS NULL OR result_bytes IS NOT NULL),
  CONSTRAINT node_results_isolation CHECK (isolation IN ('waits', 'runs'))
) WITH (fillfactor = 80);

COMMENT ON TABLE node_results IS
  'Nodes and iterations of a run, from their start on. Writers: the worker, and the acceptance of a run that reuses '
  'results; the end of a run closes open rows; retention empties what has expired.';
COMMENT ON COLUMN node_results.path IS
  'The iteration that encloses the node; empty outside loops. So in every table that names a node.';
COMMENT ON COLUMN node_results.handle IS
  'By which links the node was left: 0 for the ordinary ones, else the number of the kind''s named handle '
  '(`Handle`).';
COMMENT ON COLUMN node_results.also_handles IS 'Further handles by which the node was left; null where there are none.';
COMMENT ON COLUMN node_results.is_handled IS 'True: the run survives the failure of the node.';
COMMENT ON COLUMN node_results.is_iteration IS
  'True: the row is an iteration. `path` is its own, `node_id` that of its loop. So the end of the run closes it, '
  'and retention empties it, like a node.';
COMMENT ON COLUMN node_results.iterations IS
  'The number of iterations of a loop, 0 where it is not known beforehand; null for other nodes.';
COMMENT ON COLUMN node_results.is_reused IS
  'True: the row comes from an earlier run, a mock or a pin. Nothing was executed or paid for it.';
COMMENT ON COLUMN node_results.source IS 'The origin of a row in a test run: `mock`, `pin`, or the id of a run.';
COMMENT ON COLUMN node_results.is_stale IS 'True: the pin was made with another drawing.';
COMMENT ON COLUMN node_results.attempts IS 'How many attempts have started; the attempt of a worker that died counts.';
COMMENT ON COLUMN node_results.attempt_started_at IS
  'When the last attempt started; null for the first one, which started with the node.';
COMMENT ON COLUMN node_results.spared IS
  'Attempts of the step that do not count against its retries: their worker died, or was stopped and handed them '
  'back.';
COMMENT ON COLUMN node_results.worker IS
  'The worker process that executes the node; null while the node waits for a slot.';
COMMENT ON COLUMN node_results.isolation IS
  'State of a node whose workers died: it waits to run apart from others, or runs so; null for other nodes.';
COMMENT ON COLUMN node_results.step IS
  'The step of an agent that was claimed last (`NodeStep.name`); null for nodes that take one activity.';
COMMENT ON COLUMN node_results.queued_ms IS
  'From when the node was ready to its first attempt; null for a node that never waits in a queue.';
COMMENT ON COLUMN node_results.result IS '`{content, ...}` as it leaves the service: secrets masked.';
COMMENT ON COLUMN node_results.result_bytes IS
  'The size of `result` as JSON text, which decides whether it is read together with others: finding it out from '
  'the stored value means decompressing that. Null where there was never a result.';
COMMENT ON COLUMN node_results.result_enc IS 'The unmasked result, sealed; null when nothing is masked.';

CREATE INDEX node_results_iterations ON node_results (run_id, node_id, path) WHERE is_iteration;

CREATE TABLE node_attempts (
  run_id uuid NOT NULL REFERENCES runs (id),
  path text NOT NULL DEFAULT '',
  node_id text NOT NULL,
  number integer NOT NULL,
  started_at timestamptz NOT NULL,
  finished_at timestamptz NOT NULL,
  error_code text NOT NULL,
  error_message text,
  step text,
  worker uuid,
  was_isolated boolean NOT NULL DEFAULT false,
  PRIMARY KEY (run_id, path, node_id, number)
);

COMMENT ON TABLE node_attempts IS
  'Attempts of a node before the last one, which is the node''s own row: a node that needs one attempt has no row '
  'here. Writers: the worker, and a trigger on `node_results` for attempts whose worker was lost; retention deletes '
  'what has expired.';
COMMENT ON COLUMN node_attempts.number IS 'From 1.';
COMMENT ON COLUMN node_attempts.finished_at IS 'For an attempt whose worker was lost: when the next attempt started.';
COMMENT ON COLUMN node_attempts.step IS 'As in `node_results.step`.';
COMMENT ON COLUMN node_attempts.worker IS
  'The worker process that died during the attempt; null where the attempt ended in another way.';
COMMENT ON COLUMN node_attempts.was_isolated IS 'True: the node ran apart from others (`node_results.isolation`).';

CREATE INDEX node_attempts_lost ON node_attempts (worker) WHERE worker IS NOT NULL;

CREATE TABLE loop_items (
  run_id uuid NOT NULL REFERENCES runs (id),
  path text NOT NULL DEFAULT '',
  node_id text NOT NULL,
  index integer NOT NULL,
  item_enc bytea NOT NULL,
  PRIMARY KEY (run_id, path, node_id, index)
);

COMMENT ON TABLE loop_items IS
  'The items of a list that a loop goes through. Writers: the worker, when a loop starts, and the acceptance of a '
  'run that reuses results; retention deletes what has expired.';
COMMENT ON COLUMN loop_items.path IS 'The iteration that encloses the loop; empty outside loops.';
COMMENT ON COLUMN loop_items.node_id IS 'The id of the loop.';
COMMENT ON COLUMN loop_items.index IS 'From 0.';
COMMENT ON COLUMN loop_items.item_enc IS 'JSON text, sealed.';

-- Each start or end of an iteration adds a row. If all changed the same row, iterations that end together would wait
-- for its lock, each for the disk write of the previous one. From time to time the rows are replaced by their sum.
CREATE TABLE loop_progress (
  run_id uuid NOT NULL,
  path text NOT NULL,
  node_id text NOT NULL,
  prefix text NOT NULL,
  started int4multirange NOT NULL DEFAULT '{}',
  ended int4multirange NOT NULL DEFAULT '{}',
  failed integer NOT NULL DEFAULT 0,
  changes bigint NOT NULL DEFAULT 0
);

COMMENT ON TABLE loop_progress IS
  'Progress of the loops of a run. The rows of a loop add up. Writers: a trigger on `node_results`, whenever an '
  'iteration starts or ends, and the acceptance of a run that reuses results.';
COMMENT ON COLUMN loop_progress.path IS 'The iteration that encloses the loop; empty outside loops.';
COMMENT ON COLUMN loop_progress.node_id IS 'The id of the loop.';
COMMENT ON COLUMN loop_progress.prefix IS 'The common beginning of the paths of its iterations.';
COMMENT ON COLUMN loop_progress.started IS
  'Indexes of started iterations, as the text of a multirange: most of them follow each other.';
COMMENT ON COLUMN loop_progress.ended IS 'Indexes of ended iterations.';
COMMENT ON COLUMN loop_progress.failed IS 'How many of the ended ones have failed.';
COMMENT ON COLUMN loop_progress.changes IS
  'How many changes the ended iterations contain, those of loops in them included: the version of the run counts '
  'them.';

CREATE INDEX loop_progress_loop ON loop_progress (run_id, path, node_id);

CREATE TABLE provider_calls (
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
);

COMMENT ON TABLE provider_calls IS
  'Calls that are paid for or must not be repeated: a call is claimed here before it leaves. Writer: the worker; '
  'the end of a run charges reserved calls.';
COMMENT ON COLUMN provider_calls.ordinal IS
  'For a model call that was cut off: the negative number of its attempt (`chargedCalls`).';
COMMENT ON COLUMN provider_calls.state IS
  '`sent`: on the wire, outcome unknown. `applied`: outcome recorded. `refused`: it had no effect or has a row '
  '`cut`, and may be repeated. `cut`: a model call was sent and cut off, and its price is estimated.';
COMMENT ON COLUMN provider_calls.attempts IS 'How often the call was claimed. The last attempt owns it.';
COMMENT ON COLUMN provider_calls.crashes IS
  'How often a worker died with this call in flight: the provider may have charged each, the user pays once.';
COMMENT ON COLUMN provider_calls.usage IS 'The provider''s report, unchanged; retention empties it.';
COMMENT ON COLUMN provider_calls.input_tokens IS
  'As reported, else estimated; reserved while the call is on the wire. Null where nothing is known. So '
  '`output_tokens`.';
COMMENT ON COLUMN provider_calls.is_estimated IS 'True: nobody has reported the tokens.';
COMMENT ON COLUMN provider_calls.project_id IS 'The project of a model call that is paid for.';
COMMENT ON COLUMN provider_calls.reserved_usd IS
  'The most that the call may cost while it is on the wire, then its cost. Null once the node''s transaction '
  'contains it, and for what costs nothing. docs/adr/0020-money-reserved-with-the-claim.md.';

CREATE INDEX provider_calls_reserved ON provider_calls (project_id, run_id) WHERE reserved_usd IS NOT NULL;

-- `child_run_id` is checked at the commit, because the wait is claimed before the run is inserted, so that a second
-- attempt inserts nothing.
CREATE TABLE waits (
  run_id uuid NOT NULL REFERENCES runs (id),
  path text NOT NULL DEFAULT '',
  node_id text NOT NULL,
  call integer NOT NULL DEFAULT 0,
  kind text NOT NULL CHECK (kind IN ('time', 'callback', 'human', 'child', 'connection')),
  child_run_id uuid REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
  connection_id integer,
  started_at timestamptz,
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
  CONSTRAINT waits_child CHECK ((kind = 'child') = (child_run_id IS NOT NULL)),
  CONSTRAINT waits_connection CHECK ((kind = 'connection') = (connection_id IS NOT NULL)
    AND (kind = 'connection') = (call < 0) AND (kind = 'connection') = (started_at IS NOT NULL))
);

COMMENT ON TABLE waits IS
  'Nodes that wait. Writers: the worker starts and ends waits, and makes tokens. The API accepts a callback (one '
  'guarded update: the first one counts), notes that people have answered or that a child run has ended, and starts '
  'the waits of a resumed run for runs that it resumes. Who makes a connection ready ends the waits for it. '
  'Retention deletes the waits of runs whose results have expired.';
COMMENT ON COLUMN waits.call IS
  'The number of the agent''s tool call that waits, from 1 over all turns; 0 for the node itself; -1, -2 and so on '
  'for waits for a connection, one after the other.';
COMMENT ON COLUMN waits.child_run_id IS 'The run that the node has started (kind `child`).';
COMMENT ON COLUMN waits.connection_id IS 'The connection that the node waits for since `started_at` (kind `connection`).';
COMMENT ON COLUMN waits.until IS
  'When the wait ends; null while the node has not started, and only its token was asked for.';
COMMENT ON COLUMN waits.token_hash IS 'SHA-256 of the token in the callback''s address; null where nobody needs one.';
COMMENT ON COLUMN waits.answer_enc IS 'The body of the accepted callback, sealed.';
COMMENT ON COLUMN waits.answered_at IS
  'When the answer or the event came that the node waits for; null for a wait for a time.';
COMMENT ON COLUMN waits.signalled_at IS
  'When the run workflow took the signal. The API repeats the signal while it is null.';
COMMENT ON COLUMN waits.signal_attempts IS
  'How many further signals the API has sent; `next_signal_at` is the time of the next one, null for at once.';
COMMENT ON COLUMN waits.closed_at IS 'When the wait ended. Later answers are refused.';

-- Finds answers whose signal may not have arrived. It includes closed waits, because Temporal may have been restored.
CREATE INDEX waits_undelivered ON waits (answered_at) WHERE signalled_at IS NULL AND answered_at IS NOT NULL;
CREATE INDEX waits_of_connection ON waits (connection_id) WHERE kind = 'connection' AND closed_at IS NULL;
