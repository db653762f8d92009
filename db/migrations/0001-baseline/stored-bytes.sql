-- The bytes that each project stores.

-- If all nodes of a project changed the same row, they would wait for each other. So triggers add each change as a row
-- of `stored_byte_changes`, in the transaction of the value, and the API folds these rows into `stored_bytes` every few
-- seconds (db/projects/stored-bytes-repository.ts).
CREATE TABLE stored_bytes (
  project_id integer PRIMARY KEY REFERENCES projects (id),
  bytes bigint NOT NULL
) WITH (fillfactor = 50);

COMMENT ON TABLE stored_bytes IS
  'The bytes that a project stores, without the rows of `stored_byte_changes`. A project without a row stores '
  'nothing. Writer: `foldStoredBytes` in the API.';

-- The table contains the changes of a few seconds. The index serves projects near their limit (`refuse_beyond_quota`).
CREATE TABLE stored_byte_changes (
  project_id integer NOT NULL,
  bytes bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

COMMENT ON TABLE stored_byte_changes IS
  'Bytes that transactions add to a project. Writers: the triggers `count_bytes_of_*`; `foldStoredBytes` '
  'deletes the rows.';

CREATE INDEX stored_byte_changes_project ON stored_byte_changes (project_id);

CREATE TABLE stored_bytes_limit (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  bytes bigint NOT NULL
);

COMMENT ON TABLE stored_bytes_limit IS
  'The limit of bytes that a project may store, in at most one row. Without it there is no limit. Writer: the API, when it starts.';

CREATE TABLE stored_graphs (
  project_id integer NOT NULL,
  hash bytea NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (project_id, hash)
);

COMMENT ON TABLE stored_graphs IS
  'The graphs that the runs of a project have executed: a graph is stored once, and counts once for each project. '
  'The row stays, as the runs do. Writer: a trigger on `runs`.';
