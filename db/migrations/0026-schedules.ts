import { sql, type Kysely } from 'kysely';

/** Schedules: workflows that start by the clock. Extensions, section 6. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `CREATE TABLE schedules (
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
    told_version uuid,
    changed_at timestamptz NOT NULL DEFAULT now(),
    sync_at timestamptz NOT NULL DEFAULT now(),
    last_firing_at timestamptz,
    last_run_id uuid,
    last_refusal_code text,
    last_refusal_message text,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT schedules_pause CHECK (is_paused OR pause_reason IS NULL),
    CONSTRAINT schedules_refusal CHECK ((last_refusal_code IS NULL) = (last_refusal_message IS NULL))
  )`,
  `CREATE INDEX schedules_workflow ON schedules (workflow_id, created_at, id)`,
  `CREATE INDEX schedules_sync ON schedules (sync_at)`,
  // No foreign key to runs: what is told of a firing outlives its run, and the key makes it happen once.
  `CREATE TABLE schedule_firings (
    schedule_id uuid NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
    at timestamptz NOT NULL,
    run_id uuid NOT NULL,
    accepted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (schedule_id, at)
  )`,
  `CREATE TABLE schedule_removals (
    schedule_id uuid PRIMARY KEY,
    requested_at timestamptz NOT NULL DEFAULT now()
  )`,
];
