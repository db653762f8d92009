import { sql, type Kysely } from 'kysely';

/** Approvals by several people, and of arguments that they have changed. Extensions, section 7. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // `edited_arguments` is what readers see, its secrets masked; `edited_enc` is what is sent. `counted` counts the
  // decisions that were counted and have not settled the request, for those who ask whether anything has changed.
  `ALTER TABLE approval_requests
    ADD COLUMN arguments_hash text NOT NULL DEFAULT '',
    ADD COLUMN edited_arguments json,
    ADD COLUMN edited_enc bytea,
    ADD COLUMN required smallint NOT NULL DEFAULT 1,
    ADD COLUMN exclude_starter boolean NOT NULL DEFAULT false,
    ADD COLUMN roles text[],
    ADD COLUMN counted integer NOT NULL DEFAULT 0,
    ADD CONSTRAINT approval_requests_edit CHECK ((edited_arguments IS NULL) = (edited_enc IS NULL))`,
  // Append only. A person counts once for the same arguments.
  `CREATE TABLE approval_decisions (
    request_id text NOT NULL REFERENCES approval_requests (request_id) ON DELETE CASCADE,
    user_id integer NOT NULL REFERENCES users (id),
    decision text NOT NULL CHECK (decision IN ('approved', 'rejected')),
    arguments_hash text NOT NULL,
    reason text NOT NULL DEFAULT '',
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (request_id, user_id, arguments_hash, decision)
  )`,
];
