-- The bytes that each project stores. A sealed value is a few bytes larger than the value. A value that is stored both
-- masked and sealed counts once. A row that would exceed the quota is refused, unless it was paid for or reports a
-- failure.

-- Raises an error if the change would exceed the limit. A single statement reads both sums, because a fold between two
-- statements would move bytes from one to the other. Summing up the changes that are not folded yet costs more in
-- busier projects, so a small change (under 1 MiB) of a project with ample room (1 GiB) is not checked. Changes are
-- folded every few seconds, and large ones are always checked, so small ones cannot use up that room before.
CREATE OR REPLACE FUNCTION refuse_beyond_quota(of_project integer, added bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  ample_room CONSTANT bigint := 1073741824;
  small_change CONSTANT bigint := 1048576;
  room bigint;
BEGIN
  IF added <= 0 THEN RETURN; END IF;
  SELECT bytes - added - coalesce((SELECT kept.bytes FROM stored_bytes kept WHERE project_id = of_project), 0)
  INTO room FROM stored_bytes_limit;
  IF room IS NULL OR (room >= ample_room AND added < small_change) THEN RETURN; END IF;
  SELECT bytes - added - coalesce((SELECT kept.bytes FROM stored_bytes kept WHERE project_id = of_project), 0)
    - coalesce((SELECT sum(recent.bytes) FROM stored_byte_changes recent WHERE project_id = of_project), 0)
  INTO room FROM stored_bytes_limit;
  IF room < 0 THEN
    RAISE EXCEPTION 'the project would store more than it may' USING ERRCODE = 'QB413';
  END IF;
END $$;

-- Adds a change. It must also be called for data that is stored in tables without such a trigger.
CREATE OR REPLACE FUNCTION add_stored_bytes(of_project integer, added bigint, may_refuse boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF may_refuse THEN PERFORM refuse_beyond_quota(of_project, added); END IF;
  INSERT INTO stored_byte_changes (project_id, bytes) VALUES (of_project, added);
END $$;

CREATE OR REPLACE FUNCTION count_bytes_of_workflows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.document::text) + coalesce(octet_length(OLD.secrets_enc), 0)
      + octet_length(OLD.readme_guide));
    IF added <> 0 THEN PERFORM add_stored_bytes(OLD.project_id, added, false); END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.document::text) + coalesce(octet_length(NEW.secrets_enc), 0)
    + octet_length(NEW.readme_guide);
  IF TG_OP = 'UPDATE' THEN
    added := added - (octet_length(OLD.document::text) + coalesce(octet_length(OLD.secrets_enc), 0)
      + octet_length(OLD.readme_guide));
  END IF;
  IF added <> 0 THEN PERFORM add_stored_bytes(NEW.project_id, added, true); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_workflows_new AFTER INSERT ON workflows
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_workflows();
CREATE OR REPLACE TRIGGER count_bytes_of_workflows_changed
  AFTER UPDATE OF document, secrets_enc, readme_guide ON workflows
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_workflows();
CREATE OR REPLACE TRIGGER count_bytes_of_workflows_gone AFTER DELETE ON workflows
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_workflows();

CREATE OR REPLACE FUNCTION count_bytes_of_workflow_versions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.document::text) + coalesce(octet_length(OLD.secrets_enc), 0));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM workflows WHERE id = OLD.workflow_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.document::text) + coalesce(octet_length(NEW.secrets_enc), 0);
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM workflows WHERE id = NEW.workflow_id), added, true);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_workflow_versions_new AFTER INSERT ON workflow_versions
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_workflow_versions();
CREATE OR REPLACE TRIGGER count_bytes_of_workflow_versions_gone AFTER DELETE ON workflow_versions
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_workflow_versions();

CREATE OR REPLACE FUNCTION count_bytes_of_workflow_drafts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.document::text) + coalesce(octet_length(OLD.secrets_enc), 0));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM workflows WHERE id = OLD.workflow_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.document::text) + coalesce(octet_length(NEW.secrets_enc), 0);
  IF TG_OP = 'UPDATE' THEN
    added := added - (octet_length(OLD.document::text) + coalesce(octet_length(OLD.secrets_enc), 0));
  END IF;
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM workflows WHERE id = NEW.workflow_id), added, true);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_workflow_drafts_new AFTER INSERT ON workflow_drafts
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_workflow_drafts();
CREATE OR REPLACE TRIGGER count_bytes_of_workflow_drafts_changed
  AFTER UPDATE OF document, secrets_enc ON workflow_drafts
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_workflow_drafts();
CREATE OR REPLACE TRIGGER count_bytes_of_workflow_drafts_gone AFTER DELETE ON workflow_drafts
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_workflow_drafts();

CREATE OR REPLACE FUNCTION count_bytes_of_schedules() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.input_enc));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM workflows WHERE id = OLD.workflow_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.input_enc);
  IF TG_OP = 'UPDATE' THEN added := added - (octet_length(OLD.input_enc)); END IF;
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM workflows WHERE id = NEW.workflow_id), added, true);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_schedules_new AFTER INSERT ON schedules
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_schedules();
CREATE OR REPLACE TRIGGER count_bytes_of_schedules_changed AFTER UPDATE OF input_enc ON schedules
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_schedules();
CREATE OR REPLACE TRIGGER count_bytes_of_schedules_gone AFTER DELETE ON schedules
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_schedules();

CREATE OR REPLACE FUNCTION count_bytes_of_cases() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.content_enc));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM workflows WHERE id = OLD.workflow_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.content_enc);
  IF TG_OP = 'UPDATE' THEN added := added - (octet_length(OLD.content_enc)); END IF;
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM workflows WHERE id = NEW.workflow_id), added, true);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_cases_new AFTER INSERT ON cases
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_cases();
CREATE OR REPLACE TRIGGER count_bytes_of_cases_changed AFTER UPDATE OF content_enc ON cases
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_cases();
CREATE OR REPLACE TRIGGER count_bytes_of_cases_gone AFTER DELETE ON cases
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_cases();

CREATE OR REPLACE FUNCTION count_bytes_of_pins() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.pin_enc));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM workflows WHERE id = OLD.workflow_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.pin_enc);
  IF TG_OP = 'UPDATE' THEN added := added - (octet_length(OLD.pin_enc)); END IF;
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM workflows WHERE id = NEW.workflow_id), added, true);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_pins_new AFTER INSERT ON pins
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_pins();
CREATE OR REPLACE TRIGGER count_bytes_of_pins_changed AFTER UPDATE OF pin_enc ON pins
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_pins();
CREATE OR REPLACE TRIGGER count_bytes_of_pins_gone AFTER DELETE ON pins
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_pins();

-- Files of a project with equal bytes are stored and counted once. Files that are being written count, too.
CREATE OR REPLACE FUNCTION count_bytes_of_file_copies() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(OLD.bytes);
    IF added <> 0 THEN PERFORM add_stored_bytes(OLD.project_id, added, false); END IF;
    RETURN NULL;
  END IF;
  added := NEW.bytes;
  IF TG_OP = 'UPDATE' THEN added := added - (OLD.bytes); END IF;
  IF added <> 0 THEN PERFORM add_stored_bytes(NEW.project_id, added, true); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_file_copies_new AFTER INSERT ON file_copies
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_file_copies();
CREATE OR REPLACE TRIGGER count_bytes_of_file_copies_changed AFTER UPDATE OF bytes ON file_copies
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_file_copies();
CREATE OR REPLACE TRIGGER count_bytes_of_file_copies_gone AFTER DELETE ON file_copies
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_file_copies();

CREATE OR REPLACE FUNCTION count_bytes_of_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.inputs_enc));
    IF added <> 0 THEN PERFORM add_stored_bytes(OLD.project_id, added, false); END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.inputs_enc);
  IF added <> 0 THEN PERFORM add_stored_bytes(NEW.project_id, added, true); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_conversations_new AFTER INSERT ON conversations
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_conversations();
CREATE OR REPLACE TRIGGER count_bytes_of_conversations_gone AFTER DELETE ON conversations
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_conversations();

-- An answer is never refused, because it was paid for.
CREATE OR REPLACE FUNCTION count_bytes_of_conversation_messages() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(greatest(octet_length(OLD.content), octet_length(OLD.content_enc)) + octet_length(OLD.files::text)
    + coalesce(octet_length(OLD.answer), 0) + coalesce(octet_length(OLD.answer_files::text), 0));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM conversations WHERE id = OLD.conversation_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := greatest(octet_length(NEW.content), octet_length(NEW.content_enc)) + octet_length(NEW.files::text)
    + coalesce(octet_length(NEW.answer), 0) + coalesce(octet_length(NEW.answer_files::text), 0);
  IF TG_OP = 'UPDATE' THEN
    added := added - (greatest(octet_length(OLD.content), octet_length(OLD.content_enc)) + octet_length(OLD.files::text)
      + coalesce(octet_length(OLD.answer), 0) + coalesce(octet_length(OLD.answer_files::text), 0));
  END IF;
  IF added <> 0 THEN
    PERFORM add_stored_bytes(
      (SELECT project_id FROM conversations WHERE id = NEW.conversation_id), added, TG_OP = 'INSERT');
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_conversation_messages_new AFTER INSERT ON conversation_messages
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_conversation_messages();
CREATE OR REPLACE TRIGGER count_bytes_of_conversation_messages_changed
  AFTER UPDATE OF answer, answer_files ON conversation_messages
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_conversation_messages();
CREATE OR REPLACE TRIGGER count_bytes_of_conversation_messages_gone AFTER DELETE ON conversation_messages
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_conversation_messages();
