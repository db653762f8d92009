-- The files of db/routines that were applied to the database.

CREATE TABLE routine_files (
  name text PRIMARY KEY,
  hash text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE routine_files IS
  'The hash of each file of db/routines that is in the database. Writer: `migrateToLatest`.';
