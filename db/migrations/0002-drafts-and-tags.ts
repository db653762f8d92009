import { sql, type Kysely } from 'kysely';

/** Drafts and tags of workflows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE workflow_drafts (
      workflow_id integer NOT NULL REFERENCES workflows (id),
      user_id integer NOT NULL REFERENCES users (id),
      document json NOT NULL,
      secrets_enc bytea,
      base_version integer NOT NULL CHECK (base_version > 0),
      tag uuid NOT NULL DEFAULT gen_random_uuid(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (workflow_id, user_id)
    );

    COMMENT ON TABLE workflow_drafts IS
      'Unsaved drawings, one for each user and workflow. Writer: the API; retention deletes old ones.';
    COMMENT ON COLUMN workflow_drafts.document IS 'Secrets masked, as in \`workflows.document\`.';
    COMMENT ON COLUMN workflow_drafts.secrets_enc IS
      'The secrets cut out of the document, sealed. A mask without one stands for the secret of the saved drawing.';
    COMMENT ON COLUMN workflow_drafts.base_version IS 'The version of the drawing from which the draft began.';
    COMMENT ON COLUMN workflow_drafts.tag IS 'Changes with each write, and differs from that of any earlier draft.';

    CREATE INDEX workflow_drafts_age ON workflow_drafts (updated_at);

    COMMENT ON COLUMN file_references.holder IS
      'The id of a run, case, schedule, message, answer or conversation; \`WORKFLOW/VERSION\` of a drawing; '
      '\`WORKFLOW/draft/USER\` of a draft; \`WORKFLOW/PATH/NODE\` of a pin.';

    ALTER TABLE workflows ADD COLUMN tags text[] NOT NULL DEFAULT '{}';
    COMMENT ON COLUMN workflows.tags IS 'Words by which people find it. Copies in the same project keep them.';
    -- Contains what the pages of the catalog select and sort by. An index by tag would read the workflows of all tenants.
    CREATE INDEX workflows_tagged ON workflows (project_id, id) INCLUDE (tags, created_at, author_id)
      WHERE archived_at IS NULL AND tags <> '{}'`.execute(db);
}
