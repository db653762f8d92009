-- The audit log (docs/adr/0025-audit-in-the-transaction-of-the-change.md).

-- The table has no foreign keys, because a record outlives the objects that it describes.
CREATE TABLE audit_records (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  project_id integer,
  action text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('success', 'refused')),
  actor_id integer,
  actor_name text,
  via text NOT NULL CHECK (via IN ('session', 'key', 'link', 'hook', 'callback', 'schedule', 'system')),
  key_id integer,
  address text,
  target_type text,
  target_id text,
  target_name text,
  changes jsonb NOT NULL DEFAULT '{}',
  count integer NOT NULL DEFAULT 1,
  position bigint,
  hash bytea,
  CHECK ((position IS NULL) = (hash IS NULL))
);

COMMENT ON TABLE audit_records IS
  'The audit log. Writers: whoever changes something, in the transaction of the change. A trigger refuses changes '
  'and early deletions; the function `expire_audit_records` deletes.';
COMMENT ON COLUMN audit_records.project_id IS 'Null: the record belongs to no project.';
COMMENT ON COLUMN audit_records.action IS 'One of `db/audit/subjects.ts`.';
COMMENT ON COLUMN audit_records.actor_name IS 'The name at that time.';
COMMENT ON COLUMN audit_records.changes IS '`{field: [before, after]}`';
COMMENT ON COLUMN audit_records.count IS 'How many refusals the record stands for.';
COMMENT ON COLUMN audit_records.position IS 'The place in its chain, from 1; null until it is chained.';
COMMENT ON COLUMN audit_records.hash IS 'SHA-256 of the record and the hash before it.';

CREATE INDEX audit_records_of_project ON audit_records (project_id, id);
CREATE INDEX audit_records_of_actor ON audit_records (actor_id, id);
CREATE INDEX audit_records_by_time ON audit_records (at);
CREATE INDEX audit_records_to_chain ON audit_records (id) WHERE position IS NULL;
CREATE UNIQUE INDEX audit_records_chain ON audit_records ((coalesce(project_id, 0)), position)
  WHERE position IS NOT NULL;

CREATE TABLE audit_chains (
  project_id integer PRIMARY KEY,
  entries bigint NOT NULL DEFAULT 0,
  last_id bigint,
  last_hash bytea NOT NULL DEFAULT '',
  expired bigint NOT NULL DEFAULT 0,
  expired_hash bytea NOT NULL DEFAULT ''
) WITH (fillfactor = 50);

COMMENT ON TABLE audit_chains IS
  'One chain of hashes a project; 0 is the chain of the records without a project. Writers: the API, which chains '
  'the records, and the function `expire_audit_records`.';
COMMENT ON COLUMN audit_chains.entries IS 'How many records the chain has had.';
COMMENT ON COLUMN audit_chains.expired IS
  'How many of the first records were deleted; `expired_hash` is the hash of the last one of them.';

CREATE TABLE audit_refusals (
  key bytea NOT NULL,
  minute timestamptz NOT NULL,
  count integer NOT NULL,
  last json NOT NULL,
  PRIMARY KEY (key, minute)
) WITH (fillfactor = 50);

COMMENT ON TABLE audit_refusals IS
  'Refusals of one address and target in one minute. Writer: the API, which turns the row into a record when the '
  'minute is over.';
COMMENT ON COLUMN audit_refusals.last IS 'The last refusal, from which the record is made.';

CREATE INDEX audit_refusals_minute ON audit_refusals (minute);
