-- The bytes of drafts before answers of the assistant. `answer_baselines.bytes` holds the size of the document. A row is
-- never refused, because its message has been accepted, and it is no larger than the draft, which was.

CREATE OR REPLACE FUNCTION count_bytes_of_answer_baselines() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint := 0;
  of_workflow integer;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    added := added - OLD.bytes;
    of_workflow := OLD.workflow_id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    added := added + NEW.bytes;
    of_workflow := NEW.workflow_id;
  END IF;
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM workflows WHERE id = of_workflow), added, false);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_answer_baselines_new AFTER INSERT ON answer_baselines
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_answer_baselines();
CREATE OR REPLACE TRIGGER count_bytes_of_answer_baselines_changed AFTER UPDATE OF bytes ON answer_baselines
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_answer_baselines();
CREATE OR REPLACE TRIGGER count_bytes_of_answer_baselines_gone AFTER DELETE ON answer_baselines
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_answer_baselines();
