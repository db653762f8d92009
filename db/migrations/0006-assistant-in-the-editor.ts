import { sql, type Kysely } from 'kysely';

// An earlier form of this migration created the index `runs_of_assistants`. Creating it scanned `runs`, which blocked
// every poll and write until the commit. No statement can use the index, because it is partial, and the service's
// connections plan statements without their values. Migration 0007 drops it where it exists, so databases with and
// without it end in the same schema.

/** The assistant in the editor: its conversations, its runs, and the drafts by which users undo its changes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE runs DROP CONSTRAINT runs_purpose_check;
    -- Not validated, because the rows that exist have passed a narrower check, and a scan would block writers.
    ALTER TABLE runs ADD CONSTRAINT runs_purpose_check CHECK (purpose IN ('run', 'test', 'assistant')) NOT VALID;
    COMMENT ON COLUMN runs.purpose IS
      '\`assistant\`: an answer of the assistant in the editor of \`workflow_id\`, whose drawing is built in.';

    ALTER TABLE conversations ADD COLUMN purpose text NOT NULL DEFAULT 'chat';
    ALTER TABLE conversations ADD CONSTRAINT conversations_purpose_check
      CHECK (purpose IN ('chat', 'assistant')) NOT VALID;
    COMMENT ON COLUMN conversations.purpose IS
      '\`chat\`: with the workflow. \`assistant\`: with the assistant in its editor, which its author alone sees.';
    CREATE UNIQUE INDEX conversations_of_assistants ON conversations (workflow_id, author_id)
      WHERE purpose = 'assistant';

    CREATE TABLE answer_baselines (
      conversation_id uuid PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
      run_id uuid NOT NULL,
      workflow_id integer NOT NULL REFERENCES workflows (id),
      user_id integer NOT NULL REFERENCES users (id),
      document json,
      secrets_enc bytea,
      base_version integer NOT NULL CHECK (base_version > 0),
      created_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    COMMENT ON TABLE answer_baselines IS
      'The draft of the user before the newest answer of the assistant in the editor. Writer: the API.';
    COMMENT ON COLUMN answer_baselines.document IS
      'As in \`workflow_drafts\`; null where there was no draft, and the drawing was that of \`base_version\`.';

    ALTER TABLE workflow_drafts ADD COLUMN written_by uuid;
    COMMENT ON COLUMN workflow_drafts.written_by IS
      'The run of the assistant in the editor that has written it last; null if the user did.';

    ALTER TABLE test_runs ADD COLUMN asked_by uuid;
    COMMENT ON COLUMN test_runs.asked_by IS
      'The run of the assistant in the editor that has asked for it; it is cancelled with that run.';
    CREATE INDEX test_runs_of_assistants ON test_runs (asked_by) WHERE asked_by IS NOT NULL`.execute(db);
}
