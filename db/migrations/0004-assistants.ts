import { sql, type Kysely } from 'kysely';

/** Names of assistants in the audit log, and limits on the cost of single tests. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE audit_records DROP CONSTRAINT audit_records_via_check;
    -- Not validated, because the rows that exist have passed a narrower check, and a scan would block writers.
    ALTER TABLE audit_records ADD CONSTRAINT audit_records_via_check
      CHECK (via IN ('session', 'key', 'link', 'hook', 'callback', 'schedule', 'system') OR via LIKE 'mcp:%') NOT VALID;
    COMMENT ON COLUMN audit_records.via IS
      'The way by which it came. \`mcp:NAME\` is the assistant of that name, with the key of its user.';

    ALTER TABLE test_runs ADD COLUMN max_cost_usd numeric CHECK (max_cost_usd >= 0);
    COMMENT ON COLUMN test_runs.max_cost_usd IS 'The most that the run and those below it may cost; null: no limit.'`.execute(
    db,
  );
}
