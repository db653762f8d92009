import { sql, type Kysely } from 'kysely';

/** The audit log: who has changed what, and who was refused. Extensions, section 9; ADR 25. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...tables, ...guard, ...expiry]) await sql.raw(statement).execute(db);
}

const tables = [
  // No foreign keys: a record outlives what it tells of. `position` counts the records of a chain, from 1.
  `CREATE TABLE audit_records (
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
  )`,
  `CREATE INDEX audit_records_of_project ON audit_records (project_id, id)`,
  `CREATE INDEX audit_records_of_actor ON audit_records (actor_id, id)`,
  `CREATE INDEX audit_records_by_time ON audit_records (at)`,
  `CREATE INDEX audit_records_to_chain ON audit_records (id) WHERE position IS NULL`,
  `CREATE UNIQUE INDEX audit_records_chain ON audit_records ((coalesce(project_id, 0)), position)
    WHERE position IS NOT NULL`,
  // One row a project, and 0 for the records of no project. The first `expired` records were deleted by retention.
  `CREATE TABLE audit_chains (
    project_id integer PRIMARY KEY,
    entries bigint NOT NULL DEFAULT 0,
    last_id bigint,
    last_hash bytea NOT NULL DEFAULT '',
    expired bigint NOT NULL DEFAULT 0,
    expired_hash bytea NOT NULL DEFAULT ''
  ) WITH (fillfactor = 50)`,
  // Refusals of one address and target in one minute.
  `CREATE TABLE audit_refusals (
    key bytea NOT NULL,
    minute timestamptz NOT NULL,
    count integer NOT NULL,
    last json NOT NULL,
    PRIMARY KEY (key, minute)
  ) WITH (fillfactor = 50)`,
  `CREATE INDEX audit_refusals_minute ON audit_refusals (minute)`,
];

const guard = [
  `CREATE FUNCTION guard_audit_records() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'UPDATE' AND OLD.position IS NULL AND NEW.position IS NOT NULL THEN
      OLD.position := NEW.position;
      OLD.hash := NEW.hash;
      IF OLD IS NOT DISTINCT FROM NEW THEN RETURN NEW; END IF;
    END IF;
    IF TG_OP = 'DELETE' AND OLD.at < now() - interval '400 days' THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'audit records are never changed, nor deleted before they are 400 days old';
  END $$`,
  `CREATE TRIGGER audit_records_guard BEFORE UPDATE OR DELETE ON audit_records
    FOR EACH ROW EXECUTE FUNCTION guard_audit_records()`,
];

const expiry = [
  // With the rights of the schema's owner, so that the service needs none to delete records. A chain loses records from
  // its beginning only, and keeps the hash of the last one that it has lost.
  `CREATE FUNCTION expire_audit_records(rows_at_most integer) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
  DECLARE
    due_before CONSTANT timestamptz := now() - interval '400 days';
    chain record;
    bound bigint;
    deleted integer := 0;
    count_here integer;
  BEGIN
    FOR chain IN
      SELECT * FROM audit_chains WHERE project_id IN (
        SELECT coalesce(project_id, 0) FROM audit_records
        WHERE at < due_before AND position IS NOT NULL ORDER BY at LIMIT rows_at_most)
      ORDER BY project_id FOR UPDATE
    LOOP
      EXIT WHEN deleted >= rows_at_most;
      SELECT coalesce(min(position) FILTER (WHERE at >= due_before) - 1, max(position)) INTO bound
      FROM audit_records
      WHERE coalesce(project_id, 0) = chain.project_id AND position <= chain.expired + rows_at_most - deleted;
      CONTINUE WHEN bound IS NULL OR bound <= chain.expired;
      UPDATE audit_chains SET expired = bound, expired_hash = (
        SELECT hash FROM audit_records WHERE coalesce(project_id, 0) = chain.project_id AND position = bound)
      WHERE project_id = chain.project_id;
      DELETE FROM audit_records WHERE coalesce(project_id, 0) = chain.project_id AND position <= bound;
      GET DIAGNOSTICS count_here = ROW_COUNT;
      deleted := deleted + count_here;
    END LOOP;
    RETURN deleted;
  END $$`,
];
