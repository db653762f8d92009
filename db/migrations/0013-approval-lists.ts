import { sql, type Kysely } from 'kysely';

/** What an inbox of approval requests shows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // The project is a copy of the run's, by which the requests of a user are found. The label is a copy of the drawing's: to
  // read it there means to parse the whole drawing for each request.
  `ALTER TABLE approval_requests ADD COLUMN project_id integer, ADD COLUMN node_label text NOT NULL DEFAULT ''`,
  `UPDATE approval_requests SET project_id = runs.project_id FROM runs WHERE runs.id = approval_requests.run_id`,
  `ALTER TABLE approval_requests ALTER COLUMN project_id SET NOT NULL`,
  // Workers of 0.2.0, which run beside those of this version during an upgrade, do not name the project.
  `CREATE FUNCTION set_approval_project() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    SELECT project_id INTO NEW.project_id FROM runs WHERE id = NEW.run_id;
    RETURN NEW;
  END $$`,
  `CREATE TRIGGER approval_requests_project BEFORE INSERT ON approval_requests
    FOR EACH ROW WHEN (NEW.project_id IS NULL) EXECUTE FUNCTION set_approval_project()`,
  // Lists and their totals read an index alone. However many requests have been decided, those that an inbox asks for are
  // few.
  `CREATE INDEX approval_requests_newest ON approval_requests (project_id, created_at, request_id)
    INCLUDE (status, expires_at)`,
  `DROP INDEX approval_requests_pending`,
  `CREATE INDEX approval_requests_pending ON approval_requests (project_id, created_at, request_id)
    INCLUDE (expires_at) WHERE status = 'pending'`,
];
