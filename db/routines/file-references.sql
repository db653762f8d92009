-- A reference to a file is deleted together with the row that refers to it (docs/adr/0028-files.md). Retention deletes
-- the references of runs together with their results (db/retention/).

CREATE OR REPLACE FUNCTION drop_file_references_of_pins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM file_references WHERE kind = 'pin' AND holder = OLD.workflow_id || '/' || OLD.path || '/' || OLD.node_id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER pins_file_references AFTER DELETE ON pins
  FOR EACH ROW EXECUTE FUNCTION drop_file_references_of_pins();

CREATE OR REPLACE FUNCTION drop_file_references_of_cases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM file_references WHERE kind = 'case' AND holder = OLD.id::text;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER cases_file_references AFTER DELETE ON cases
  FOR EACH ROW EXECUTE FUNCTION drop_file_references_of_cases();

CREATE OR REPLACE FUNCTION drop_file_references_of_workflow_versions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM file_references WHERE kind = 'drawing' AND holder = OLD.workflow_id || '/' || OLD.version;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER workflow_versions_file_references AFTER DELETE ON workflow_versions
  FOR EACH ROW EXECUTE FUNCTION drop_file_references_of_workflow_versions();

CREATE OR REPLACE FUNCTION drop_file_references_of_workflow_drafts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM file_references WHERE kind = 'drawing' AND holder = OLD.workflow_id || '/draft/' || OLD.user_id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER workflow_drafts_file_references AFTER DELETE ON workflow_drafts
  FOR EACH ROW EXECUTE FUNCTION drop_file_references_of_workflow_drafts();

CREATE OR REPLACE FUNCTION drop_file_references_of_schedules() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM file_references WHERE kind = 'schedule' AND holder = OLD.id::text;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER schedules_file_references AFTER DELETE ON schedules
  FOR EACH ROW EXECUTE FUNCTION drop_file_references_of_schedules();

CREATE OR REPLACE FUNCTION drop_file_references_of_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM file_references WHERE kind = 'message' AND holder IN (OLD.id::text, OLD.answer_id::text);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER conversation_messages_file_references AFTER DELETE ON conversation_messages
  FOR EACH ROW EXECUTE FUNCTION drop_file_references_of_messages();

-- The inputs of a conversation may contain files, too.
CREATE OR REPLACE FUNCTION drop_file_references_of_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM file_references WHERE kind = 'message' AND holder = OLD.id::text;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER conversations_file_references AFTER DELETE ON conversations
  FOR EACH ROW EXECUTE FUNCTION drop_file_references_of_conversations();
