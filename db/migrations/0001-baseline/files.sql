-- Files, their stored copies, and the references to them (docs/adr/0028-files.md).

CREATE TABLE file_store (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  mark uuid NOT NULL
);

COMMENT ON TABLE file_store IS
  'The store that this database belongs to, in one row. Its mark stands in the store, too. Writer: the first '
  'process that opens the store.';

CREATE TABLE file_copies (
  id uuid PRIMARY KEY,
  project_id integer NOT NULL REFERENCES projects (id),
  name text NOT NULL,
  status text NOT NULL DEFAULT 'writing' CHECK (status IN ('writing', 'stored', 'deleting')),
  bytes bigint NOT NULL DEFAULT 0,
  sha256 bytea,
  seal bytea NOT NULL,
  touched_at timestamptz NOT NULL DEFAULT now(),
  CHECK (status <> 'stored' OR sha256 IS NOT NULL)
);

COMMENT ON TABLE file_copies IS
  'The bytes in the store. Equal bytes of a project share a copy. Writers: whoever saves a file, and the sweep.';
COMMENT ON COLUMN file_copies.name IS 'Random: the name of the bytes in the store.';
COMMENT ON COLUMN file_copies.status IS
  '`writing` until the hash is known. `stored` copies of a project differ from each other.';
COMMENT ON COLUMN file_copies.bytes IS 'How many bytes have been written.';
COMMENT ON COLUMN file_copies.sha256 IS 'Null until all bytes are stored.';
COMMENT ON COLUMN file_copies.seal IS 'The id of the key and the salt, from which the key of this copy is derived.';
COMMENT ON COLUMN file_copies.touched_at IS 'A process that writes updates it every few seconds.';

CREATE UNIQUE INDEX file_copies_stored ON file_copies (project_id, sha256) WHERE status = 'stored';
CREATE INDEX file_copies_open ON file_copies (touched_at) WHERE status <> 'stored';

CREATE TABLE files (
  id uuid PRIMARY KEY,
  project_id integer NOT NULL REFERENCES projects (id),
  copy_id uuid REFERENCES file_copies (id),
  name text NOT NULL,
  type text NOT NULL,
  size bigint NOT NULL,
  sha256 bytea NOT NULL,
  run_id uuid REFERENCES runs (id),
  user_id integer REFERENCES users (id),
  created_at timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE files IS 'Files. Writers: whoever saves or deletes a file, and the sweep.';
COMMENT ON COLUMN files.copy_id IS 'Null: the file was deleted while something still referred to it.';
COMMENT ON COLUMN files.type IS 'The media type as it was declared.';
COMMENT ON COLUMN files.run_id IS 'The run that made it.';
COMMENT ON COLUMN files.user_id IS 'The user who uploaded it.';

CREATE INDEX files_newest ON files (project_id, created_at, id);
CREATE INDEX files_largest ON files (project_id, size, id);
CREATE INDEX files_of_copy ON files (copy_id);
CREATE INDEX files_oldest ON files (created_at);

CREATE TABLE file_references (
  file_id uuid NOT NULL REFERENCES files (id),
  kind text NOT NULL CHECK (kind IN ('run', 'pin', 'case', 'drawing', 'schedule', 'message')),
  holder text COLLATE "C" NOT NULL,
  PRIMARY KEY (file_id, kind, holder)
);

COMMENT ON TABLE file_references IS
  'References of rows to files. Writers: whoever writes a value that holds files, in the transaction of the value; '
  'triggers on the tables that refer; and retention.';
COMMENT ON COLUMN file_references.holder IS
  'The id of a run, case, schedule, message, answer or conversation; `WORKFLOW/VERSION` of a drawing; '
  '`WORKFLOW/PATH/NODE` of a pin.';

CREATE INDEX file_references_of ON file_references (kind, holder);
