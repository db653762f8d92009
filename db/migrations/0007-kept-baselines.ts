import { sql, type Kysely } from 'kysely';

/** Limits how long drafts before answers are kept, counts their bytes, and mends the indexes of the assistant. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The locks of busy tables come last, because they last until the commit.
  await sql`
    ALTER TABLE answer_baselines ADD COLUMN bytes integer NOT NULL DEFAULT 0;
    COMMENT ON TABLE answer_baselines IS
      'The draft of the user before the newest answer of the assistant in the editor. Writer: the API. It is deleted '
      'with the draft; retention deletes old ones.';
    COMMENT ON COLUMN answer_baselines.bytes IS
      'The size of \`document\`, which counts for the project; 0 in rows of an earlier build, which are not counted.';
    COMMENT ON COLUMN answer_baselines.secrets_enc IS 'Null: only an earlier build writes it, and nothing reads it.';
    UPDATE answer_baselines SET secrets_enc = NULL WHERE secrets_enc IS NOT NULL;
    CREATE INDEX answer_baselines_of_user ON answer_baselines (workflow_id, user_id);
    CREATE INDEX answer_baselines_age ON answer_baselines (created_at);

    -- Contains all that counts and pages of a workflow's conversations select, so that these read the index alone.
    CREATE INDEX conversations_of_workflow ON conversations (workflow_id, purpose, created_at, id)
      INCLUDE (author_id, end_user);
    DROP INDEX conversations_newest;
    DROP INDEX IF EXISTS runs_of_assistants`.execute(db);
}
