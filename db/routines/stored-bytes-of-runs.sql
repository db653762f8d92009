-- The bytes that the runs of a project store (see stored-bytes.sql).

-- The first run of a graph in its project counts the graph. If two runs are inserted at once, one waits for the other,
-- and only one counts the graph.
CREATE OR REPLACE FUNCTION count_bytes_of_runs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
  graph_bytes bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(greatest(octet_length(OLD.input::text), octet_length(OLD.input_enc))
    + coalesce(octet_length(OLD.secrets_enc), 0) + coalesce(octet_length(OLD.passed_secrets_enc), 0)
    + coalesce(octet_length(OLD.node_errors::text), 0));
    IF added <> 0 THEN PERFORM add_stored_bytes(OLD.project_id, added, false); END IF;
    RETURN NULL;
  END IF;
  added := greatest(octet_length(NEW.input::text), octet_length(NEW.input_enc))
    + coalesce(octet_length(NEW.secrets_enc), 0) + coalesce(octet_length(NEW.passed_secrets_enc), 0)
    + coalesce(octet_length(NEW.node_errors::text), 0);
  IF TG_OP = 'UPDATE' THEN
    added := added - (greatest(octet_length(OLD.input::text), octet_length(OLD.input_enc))
      + coalesce(octet_length(OLD.secrets_enc), 0) + coalesce(octet_length(OLD.passed_secrets_enc), 0)
      + coalesce(octet_length(OLD.node_errors::text), 0));
  END IF;
  IF TG_OP = 'INSERT' AND NOT EXISTS (
    SELECT FROM stored_graphs WHERE project_id = NEW.project_id AND hash = NEW.snapshot_hash
  ) THEN
    INSERT INTO stored_graphs AS graph (project_id, hash, bytes)
    SELECT NEW.project_id, hash, octet_length(document::text) FROM graph_snapshots WHERE hash = NEW.snapshot_hash
    ON CONFLICT DO NOTHING RETURNING graph.bytes INTO graph_bytes;
    added := added + coalesce(graph_bytes, 0);
  END IF;
  IF added <> 0 THEN PERFORM add_stored_bytes(NEW.project_id, added, TG_OP = 'INSERT'); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_runs_new AFTER INSERT ON runs
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_runs();
CREATE OR REPLACE TRIGGER count_bytes_of_runs_changed
  AFTER UPDATE OF input, input_enc, secrets_enc, passed_secrets_enc, node_errors ON runs
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_runs();
CREATE OR REPLACE TRIGGER count_bytes_of_runs_gone AFTER DELETE ON runs
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_runs();

CREATE OR REPLACE FUNCTION count_bytes_of_fixed_results() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.outcome_enc));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = OLD.run_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.outcome_enc);
  IF added <> 0 THEN PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = NEW.run_id), added, true); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_fixed_results_new AFTER INSERT ON fixed_results
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_fixed_results();
CREATE OR REPLACE TRIGGER count_bytes_of_fixed_results_gone AFTER DELETE ON fixed_results
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_fixed_results();

CREATE OR REPLACE FUNCTION count_bytes_of_node_results() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(CASE WHEN OLD.result IS NULL THEN 0 ELSE greatest(OLD.result_bytes, octet_length(OLD.result_enc)) END
    + coalesce(octet_length(OLD.error_message), 0));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = OLD.run_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := CASE WHEN NEW.result IS NULL THEN 0 ELSE greatest(NEW.result_bytes, octet_length(NEW.result_enc)) END
    + coalesce(octet_length(NEW.error_message), 0);
  IF TG_OP = 'UPDATE' THEN
    added := added
      - (CASE WHEN OLD.result IS NULL THEN 0 ELSE greatest(OLD.result_bytes, octet_length(OLD.result_enc)) END
      + coalesce(octet_length(OLD.error_message), 0));
  END IF;
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = NEW.run_id), added, NEW.result IS NOT NULL);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_node_results_new AFTER INSERT ON node_results
  FOR EACH ROW WHEN (NEW.result IS NOT NULL OR NEW.error_message IS NOT NULL)
  EXECUTE FUNCTION count_bytes_of_node_results();
CREATE OR REPLACE TRIGGER count_bytes_of_node_results_changed
  AFTER UPDATE OF result, result_enc, error_message ON node_results
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_node_results();
CREATE OR REPLACE TRIGGER count_bytes_of_node_results_gone AFTER DELETE ON node_results
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_node_results();

CREATE OR REPLACE FUNCTION count_bytes_of_node_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(coalesce(octet_length(OLD.error_message), 0));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = OLD.run_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := coalesce(octet_length(NEW.error_message), 0);
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = NEW.run_id), added, false);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_node_attempts_new AFTER INSERT ON node_attempts
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_node_attempts();
CREATE OR REPLACE TRIGGER count_bytes_of_node_attempts_gone AFTER DELETE ON node_attempts
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_node_attempts();

-- Items are counted once per statement, because a loop stores hundreds of small ones at once.
CREATE OR REPLACE FUNCTION count_bytes_of_new_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_stored_bytes(project_id, bytes, true)
  FROM (
    SELECT runs.project_id, sum(octet_length(item_enc))::bigint AS bytes
    FROM counted_items JOIN runs ON runs.id = counted_items.run_id GROUP BY runs.project_id
  ) AS counted;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_loop_items_new AFTER INSERT ON loop_items
  REFERENCING NEW TABLE AS counted_items
  FOR EACH STATEMENT EXECUTE FUNCTION count_bytes_of_new_items();

CREATE OR REPLACE FUNCTION count_bytes_of_gone_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_stored_bytes(project_id, -bytes, false)
  FROM (
    SELECT runs.project_id, sum(octet_length(item_enc))::bigint AS bytes
    FROM counted_items JOIN runs ON runs.id = counted_items.run_id GROUP BY runs.project_id
  ) AS counted;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_loop_items_gone AFTER DELETE ON loop_items
  REFERENCING OLD TABLE AS counted_items
  FOR EACH STATEMENT EXECUTE FUNCTION count_bytes_of_gone_items();

CREATE OR REPLACE FUNCTION count_bytes_of_agent_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.tools_enc));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = OLD.run_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.tools_enc);
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = NEW.run_id), added, false);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_agent_sessions_new AFTER INSERT ON agent_sessions
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_agent_sessions();
CREATE OR REPLACE TRIGGER count_bytes_of_agent_sessions_gone AFTER DELETE ON agent_sessions
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_agent_sessions();

CREATE OR REPLACE FUNCTION count_bytes_of_agent_turns() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.message_enc));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = OLD.run_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.message_enc);
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = NEW.run_id), added, false);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_agent_turns_new AFTER INSERT ON agent_turns
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_agent_turns();
CREATE OR REPLACE TRIGGER count_bytes_of_agent_turns_gone AFTER DELETE ON agent_turns
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_agent_turns();

CREATE OR REPLACE FUNCTION count_bytes_of_agent_tool_calls() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.arguments_enc) + coalesce(octet_length(OLD.answer_enc), 0));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = OLD.run_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.arguments_enc) + coalesce(octet_length(NEW.answer_enc), 0);
  IF TG_OP = 'UPDATE' THEN
    added := added - (octet_length(OLD.arguments_enc) + coalesce(octet_length(OLD.answer_enc), 0));
  END IF;
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = NEW.run_id), added, false);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_agent_tool_calls_new AFTER INSERT ON agent_tool_calls
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_agent_tool_calls();
CREATE OR REPLACE TRIGGER count_bytes_of_agent_tool_calls_changed AFTER UPDATE OF answer_enc ON agent_tool_calls
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_agent_tool_calls();
CREATE OR REPLACE TRIGGER count_bytes_of_agent_tool_calls_gone AFTER DELETE ON agent_tool_calls
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_agent_tool_calls();

CREATE OR REPLACE FUNCTION count_bytes_of_approval_requests() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.arguments::text) + coalesce(octet_length(OLD.edited_enc), 0));
    IF added <> 0 THEN PERFORM add_stored_bytes(OLD.project_id, added, false); END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.arguments::text) + coalesce(octet_length(NEW.edited_enc), 0);
  IF TG_OP = 'UPDATE' THEN
    added := added - (octet_length(OLD.arguments::text) + coalesce(octet_length(OLD.edited_enc), 0));
  END IF;
  IF added <> 0 THEN PERFORM add_stored_bytes(NEW.project_id, added, false); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_approval_requests_new AFTER INSERT ON approval_requests
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_approval_requests();
CREATE OR REPLACE TRIGGER count_bytes_of_approval_requests_changed
  AFTER UPDATE OF arguments, edited_enc ON approval_requests
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_approval_requests();
CREATE OR REPLACE TRIGGER count_bytes_of_approval_requests_gone AFTER DELETE ON approval_requests
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_approval_requests();

CREATE OR REPLACE FUNCTION count_bytes_of_waits() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(coalesce(octet_length(OLD.answer_enc), 0));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = OLD.run_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := coalesce(octet_length(NEW.answer_enc), 0);
  IF TG_OP = 'UPDATE' THEN added := added - (coalesce(octet_length(OLD.answer_enc), 0)); END IF;
  IF added <> 0 THEN PERFORM add_stored_bytes((SELECT project_id FROM runs WHERE id = NEW.run_id), added, true); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_waits_new AFTER INSERT ON waits
  FOR EACH ROW WHEN (NEW.answer_enc IS NOT NULL) EXECUTE FUNCTION count_bytes_of_waits();
CREATE OR REPLACE TRIGGER count_bytes_of_waits_changed AFTER UPDATE OF answer_enc ON waits
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_waits();
CREATE OR REPLACE TRIGGER count_bytes_of_waits_gone AFTER DELETE ON waits
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_waits();

CREATE OR REPLACE FUNCTION count_bytes_of_human_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(octet_length(OLD.message) + octet_length(OLD.fields::text) + octet_length(OLD.files::text) - 2);
    IF added <> 0 THEN PERFORM add_stored_bytes(OLD.project_id, added, false); END IF;
    RETURN NULL;
  END IF;
  added := octet_length(NEW.message) + octet_length(NEW.fields::text) + octet_length(NEW.files::text) - 2;
  IF TG_OP = 'UPDATE' THEN
    added := added - (octet_length(OLD.message) + octet_length(OLD.fields::text) + octet_length(OLD.files::text) - 2);
  END IF;
  IF added <> 0 THEN PERFORM add_stored_bytes(NEW.project_id, added, true); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_human_tasks_new AFTER INSERT ON human_tasks
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_human_tasks();
CREATE OR REPLACE TRIGGER count_bytes_of_human_tasks_changed AFTER UPDATE OF message, fields, files ON human_tasks
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_human_tasks();
CREATE OR REPLACE TRIGGER count_bytes_of_human_tasks_gone AFTER DELETE ON human_tasks
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_human_tasks();

CREATE OR REPLACE FUNCTION count_bytes_of_human_answers() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    added := -(greatest(octet_length(OLD.entered::text), octet_length(OLD.entered_enc)) + octet_length(OLD.comment));
    IF added <> 0 THEN
      PERFORM add_stored_bytes((SELECT project_id FROM human_tasks WHERE task_id = OLD.task_id), added, false);
    END IF;
    RETURN NULL;
  END IF;
  added := greatest(octet_length(NEW.entered::text), octet_length(NEW.entered_enc)) + octet_length(NEW.comment);
  IF TG_OP = 'UPDATE' THEN
    added := added - (greatest(octet_length(OLD.entered::text), octet_length(OLD.entered_enc))
      + octet_length(OLD.comment));
  END IF;
  IF added <> 0 THEN
    PERFORM add_stored_bytes((SELECT project_id FROM human_tasks WHERE task_id = NEW.task_id), added, true);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_bytes_of_human_answers_new AFTER INSERT ON human_answers
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_human_answers();
CREATE OR REPLACE TRIGGER count_bytes_of_human_answers_changed
  AFTER UPDATE OF entered, entered_enc, comment ON human_answers
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_human_answers();
CREATE OR REPLACE TRIGGER count_bytes_of_human_answers_gone AFTER DELETE ON human_answers
  FOR EACH ROW EXECUTE FUNCTION count_bytes_of_human_answers();

-- The answers of a task are deleted before the task, because their bytes are counted for its project.
CREATE OR REPLACE FUNCTION delete_answers_first() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM human_answers WHERE task_id = OLD.task_id;
  RETURN OLD;
END $$;

CREATE OR REPLACE TRIGGER human_tasks_answers BEFORE DELETE ON human_tasks
  FOR EACH ROW EXECUTE FUNCTION delete_answers_first();
