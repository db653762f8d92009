-- Schedules, which start runs at set times.

CREATE TABLE schedules (
  id uuid PRIMARY KEY,
  workflow_id integer NOT NULL REFERENCES workflows (id),
  author_id integer NOT NULL REFERENCES users (id),
  cron text NOT NULL,
  time_zone text NOT NULL,
  input_enc bytea NOT NULL,
  overlap text NOT NULL CHECK (overlap IN ('skip', 'buffer_one', 'allow_all', 'cancel_other')),
  jitter_seconds integer NOT NULL,
  catchup_seconds integer NOT NULL,
  is_paused boolean NOT NULL DEFAULT false,
  pause_reason text CHECK (pause_reason IN ('author_lost_access')),
  version uuid NOT NULL DEFAULT gen_random_uuid(),
  synced_version uuid,
  changed_at timestamptz NOT NULL DEFAULT now(),
  sync_at timestamptz NOT NULL DEFAULT now(),
  last_firing_at timestamptz,
  last_run_id uuid,
  last_refusal_code text,
  last_refusal_message text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT schedules_pause CHECK (is_paused OR pause_reason IS NULL),
  CONSTRAINT schedules_refusal CHECK ((last_refusal_code IS NULL) = (last_refusal_message IS NULL))
);

COMMENT ON TABLE schedules IS
  'Schedules. Temporal has a copy, which is the clock. Writers: the API, and the worker''s acceptance of firings '
  '(`last_*`, and the pause of a schedule whose author has lost access). Schedules are deleted with their workflow.';
COMMENT ON COLUMN schedules.author_id IS 'The user in whose name the runs are started.';
COMMENT ON COLUMN schedules.input_enc IS 'The whole input as JSON text, sealed.';
COMMENT ON COLUMN schedules.pause_reason IS 'Null: a person has paused it.';
COMMENT ON COLUMN schedules.version IS
  'Random, and new with every change that Temporal must learn: no two are equal, not even after a restore of '
  'PostgreSQL.';
COMMENT ON COLUMN schedules.synced_version IS
  'The last version that was written to Temporal completely, backfill included; null where none was.';
COMMENT ON COLUMN schedules.changed_at IS
  'When the first change happened that is not in Temporal, or else the last one.';
COMMENT ON COLUMN schedules.sync_at IS 'When the copy in Temporal is compared next.';
COMMENT ON COLUMN schedules.last_firing_at IS 'The nominal time of the last firing that was accepted or refused.';
COMMENT ON COLUMN schedules.last_run_id IS 'Null: the firing was refused.';

CREATE INDEX schedules_workflow ON schedules (workflow_id, created_at, id);
CREATE INDEX schedules_sync ON schedules (sync_at);
-- Finds the schedules of an author who loses access, which are paused.
CREATE INDEX schedules_author ON schedules (author_id);

-- The table has no foreign key to `runs`, because the row outlives the run, so that the firing starts no second run.
CREATE TABLE schedule_firings (
  schedule_id uuid NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  at timestamptz NOT NULL,
  run_id uuid NOT NULL,
  accepted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (schedule_id, at)
);

COMMENT ON TABLE schedule_firings IS
  'A row makes a firing start one run. Writer: the worker, in one transaction with the run.';
COMMENT ON COLUMN schedule_firings.at IS 'The nominal time, without jitter.';

CREATE TABLE schedule_removals (
  schedule_id uuid PRIMARY KEY,
  requested_at timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE schedule_removals IS
  'Schedules whose copies in Temporal are to be deleted. Writers: whoever deletes a schedule, and the worker where '
  'an unknown schedule fires.';
