-- The database refuses changes of the audit log (docs/adr/0025-audit-in-the-transaction-of-the-change.md).

-- A record may be chained once, and may be deleted only after 400 days.
CREATE OR REPLACE FUNCTION guard_audit_records() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.position IS NULL AND NEW.position IS NOT NULL THEN
    OLD.position := NEW.position;
    OLD.hash := NEW.hash;
    IF OLD IS NOT DISTINCT FROM NEW THEN RETURN NEW; END IF;
  END IF;
  IF TG_OP = 'DELETE' AND OLD.at < now() - interval '400 days' THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'audit records are never changed, nor deleted before they are 400 days old';
END $$;

CREATE OR REPLACE TRIGGER audit_records_guard BEFORE UPDATE OR DELETE ON audit_records
  FOR EACH ROW EXECUTE FUNCTION guard_audit_records();

-- Deletes expired records with the rights of the schema's owner, so that the service's account needs no right to delete
-- records. Deletes only from the start of a chain, and stores the hash of the last deleted record.
CREATE OR REPLACE FUNCTION expire_audit_records(rows_at_most integer) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
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
END $$;
