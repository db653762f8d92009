import { sql, type Kysely } from 'kysely';

/** Nodes that wait: for a time, or for a callback. Extensions, sections 1.2 and 1.4. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // `until` is null until the node has begun: the token of a callback may be asked for before. A callback is kept in
  // `answer_enc` from the moment on at which it was accepted, and there is only one.
  `CREATE TABLE waits (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('time', 'callback')),
    until timestamptz,
    token_hash bytea UNIQUE,
    token_enc bytea,
    answer_enc bytea,
    answered_at timestamptz,
    signalled_at timestamptz,
    closed_at timestamptz,
    PRIMARY KEY (run_id, path, node_id),
    CONSTRAINT waits_answer CHECK (answered_at IS NULL OR token_hash IS NOT NULL)
  )`,
  // Answers whose signal is not known to have arrived.
  `CREATE INDEX waits_undelivered ON waits (answered_at) WHERE signalled_at IS NULL AND closed_at IS NULL`,
];
