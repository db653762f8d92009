-- Events order the changes of a run, and watches register the processes to notify
-- (docs/adr/0016-versions-counted-not-written.md).

-- The table is unlogged, because a crash ends the connections of the readers, and they register again. Every change of
-- a run reads the table, so it must remain small.
CREATE UNLOGGED TABLE run_watches (
  run_id uuid NOT NULL,
  listener uuid NOT NULL,
  until timestamptz NOT NULL,
  deltas boolean NOT NULL DEFAULT false,
  ends_only boolean NOT NULL DEFAULT false,
  PRIMARY KEY (run_id, listener)
) WITH (fillfactor = 70);

COMMENT ON TABLE run_watches IS
  'API processes that want to be notified when a run changes. Writers: the API processes, each its own rows, under '
  'the id that it makes at its start. Rows that are not renewed expire.';
COMMENT ON COLUMN run_watches.deltas IS 'True: the process also wants the deltas of the run.';
COMMENT ON COLUMN run_watches.ends_only IS 'True: the process is notified of the end of the run alone.';

-- The table has no foreign key to `runs`, because its lock on the run's row would wait for the end of the run, and
-- delay it.
CREATE TABLE run_events (
  run_id uuid NOT NULL,
  version bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('run', 'node', 'approval', 'human_task')),
  path text NOT NULL DEFAULT '',
  subject text NOT NULL DEFAULT '',
  status text NOT NULL,
  counted integer NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, version)
);

COMMENT ON TABLE run_events IS
  'The events of runs that somebody follows, in order. Append only. Writer: the function `order_run_events`, called '
  'by API processes; retention deletes what has expired.';
COMMENT ON COLUMN run_events.subject IS 'The id of the node, the request or the task; empty for the run.';
COMMENT ON COLUMN run_events.status IS 'The stored status that the run, node, request or task has got.';
COMMENT ON COLUMN run_events.counted IS
  'Tells apart events with the same status. For a pending request or task: how many decisions or answers had been '
  'counted. For a node that waits for child runs: odd when the call has started its run, even when it has waited '
  'for it.';

CREATE INDEX run_events_subject ON run_events (run_id, path, subject);

CREATE TABLE announced_iterations (
  run_id uuid NOT NULL,
  path text NOT NULL,
  node_id text NOT NULL,
  indexes int4multirange NOT NULL,
  PRIMARY KEY (run_id, path, node_id)
);

COMMENT ON TABLE announced_iterations IS
  'Iterations of a loop that have ended and have all their events in `run_events`. Writer: the function '
  '`order_run_events`.';
COMMENT ON COLUMN announced_iterations.indexes IS 'Indexes of the iterations, as the text of a multirange.';

-- The table is unlogged, because the result of the node contains the same text. The end of a node deletes its rows, so
-- the table is small.
CREATE UNLOGGED TABLE run_deltas (
  run_id uuid NOT NULL,
  path text NOT NULL,
  node_id text NOT NULL,
  attempt integer NOT NULL,
  step integer NOT NULL,
  number integer NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (run_id, path, node_id, attempt, step, number)
);

COMMENT ON TABLE run_deltas IS
  'Text of models, while they write and somebody reads. Writer: the worker. The end of the node deletes its '
  'rows; retention deletes what crashes have left.';
COMMENT ON COLUMN run_deltas.attempt IS 'As in `node_results.attempts`.';
COMMENT ON COLUMN run_deltas.step IS 'The number of the model call of the node, from 0.';
COMMENT ON COLUMN run_deltas.number IS 'The place among the rows of the step, from 0.';
COMMENT ON COLUMN run_deltas.body IS 'JSON text of a `DeltaBody`; secrets masked.';
