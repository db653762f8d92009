-- The bytes of the services of projects. `services.bytes` holds the size of the actions.

CREATE OR REPLACE FUNCTION count_bytes_of_services() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN added := added - OLD.bytes; END IF;
  IF TG_OP <> 'DELETE' THEN added := added + NEW.bytes; END IF;
  IF added = 0 THEN RETURN NULL; END IF;
  IF TG_OP = 'DELETE' THEN
    PERFORM add_stored_bytes(OLD.project_id, added, false);
  ELSE
    PERFORM add_stored_bytes(NEW.project_id, added, true);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_services_new AFTER INSERT ON services
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_services();
CREATE OR REPLACE TRIGGER count_bytes_of_services_changed AFTER UPDATE OF bytes ON services
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_services();
CREATE OR REPLACE TRIGGER count_bytes_of_services_gone AFTER DELETE ON services
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_services();
