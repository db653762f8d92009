-- Runs of a conversation are executed one after another (docs/adr/0029-queue-of-a-conversation.md).

-- Returns true if the run, or one below it, waits for a person.
CREATE OR REPLACE FUNCTION waits_for_person(asked uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  asked_runs uuid[] := asked || ARRAY(SELECT id FROM runs WHERE root_run_id = asked AND status = 'In Progress');
BEGIN
  RETURN EXISTS (SELECT FROM approval_requests WHERE run_id = ANY (asked_runs) AND status = 'pending')
    OR EXISTS (
      SELECT FROM waits WHERE run_id = ANY (asked_runs) AND kind IN ('human', 'connection')
        AND answered_at IS NULL AND closed_at IS NULL);
END $$;

-- Makes the next run of the conversation due for the reconciler. If the row is locked, the run is being checked or
-- cancelled already.
CREATE OR REPLACE FUNCTION check_next_queued(of_conversation uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE runs SET next_check_at = now() WHERE id IN (
    SELECT run.id FROM runs AS run
    WHERE run.status = 'In Progress' AND run.is_queued AND run.id = (
      SELECT message.run_id FROM conversation_messages AS message JOIN runs AS queued ON queued.id = message.run_id
      WHERE queued.conversation_id = of_conversation AND queued.status = 'In Progress' AND queued.is_queued
      ORDER BY message.ordinal LIMIT 1)
    FOR NO KEY UPDATE SKIP LOCKED);
  -- A process that receives the notification checks at once. Otherwise the next round of the reconciler finds the run.
  IF FOUND THEN PERFORM pg_notify('run_changes', 'queue'); END IF;
END $$;

-- Returns the value of a run's output node, or else the output of its last node (the same as `findRunResult`), and the
-- ids of the files in it. Data that cannot be read as text must not prevent the end of a run.
CREATE OR REPLACE FUNCTION answer_of_run(asked uuid, OUT answer text, OUT named text[]) LANGUAGE plpgsql STABLE AS $$
DECLARE
  given json;
BEGIN
  SELECT node.result, node.result ->> CASE WHEN first.run_id IS NULL THEN 'content' ELSE 'value' END
  INTO given, answer
  FROM node_results AS node LEFT JOIN run_outputs AS first USING (run_id, path, node_id)
  WHERE run_id = asked AND (path = '' OR first.run_id IS NOT NULL) AND NOT is_iteration AND status = 'succeed'
    AND result IS NOT NULL
  ORDER BY first.run_id IS NULL, finished_at DESC, started_at DESC, node_id LIMIT 1;
  IF position('file_id' IN given::text) > 0 THEN
    named := ARRAY(SELECT lower(hit[1]) FROM regexp_matches(given::text,
      'file_id\\*"\s*:\s*\\*"([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})\\*"', 'g')
      AS hit);
  END IF;
EXCEPTION WHEN data_exception THEN
  answer := NULL;
END $$;

-- Stores the answer of a message in the transaction that ends its run. Stores at most 262,144 characters, because a
-- later run gets at most as many bytes of messages.
CREATE OR REPLACE FUNCTION record_answer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  said text;
  named text[];
  given uuid[];
  new_id uuid := gen_random_uuid();
BEGIN
  IF NEW.status = 'Succeeded' THEN
    SELECT run_answer.answer, run_answer.named INTO said, named FROM answer_of_run(NEW.id) AS run_answer;
    said := coalesce(said, '');
    given := ARRAY(SELECT id FROM files WHERE id = ANY (named::uuid[]) AND project_id = NEW.project_id
      ORDER BY id FOR KEY SHARE);
  END IF;
  UPDATE conversation_messages SET answer_id = new_id, answered_at = clock_timestamp(), answer = left(said, 262144),
    is_answer_cut = char_length(coalesce(said, '')) > 262144,
    answer_files = (
      SELECT coalesce(json_agg(json_build_object('file_id', id, 'name', name, 'type', type, 'size', size,
        'sha256', encode(sha256, 'hex')) ORDER BY array_position(named, id::text)), '[]')
      FROM files WHERE id = ANY (given))
  WHERE run_id = NEW.id AND answer_id IS NULL;
  IF FOUND AND cardinality(given) > 0 THEN
    INSERT INTO file_references (file_id, kind, holder) SELECT unnest(given), 'message', new_id::text
    ON CONFLICT DO NOTHING;
  END IF;
  PERFORM check_next_queued(NEW.conversation_id);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER runs_answered AFTER UPDATE OF status ON runs FOR EACH ROW
  WHEN (NEW.conversation_id IS NOT NULL AND OLD.status = 'In Progress' AND NEW.status <> 'In Progress')
  EXECUTE FUNCTION record_answer();

-- While a run waits for a person, the next run of its conversation may start.
CREATE OR REPLACE FUNCTION free_conversation() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  of_conversation uuid;
BEGIN
  SELECT root.conversation_id INTO of_conversation
  FROM runs AS waiting JOIN runs AS root ON root.id = coalesce(waiting.root_run_id, waiting.id)
  WHERE waiting.id = NEW.run_id;
  IF of_conversation IS NOT NULL THEN PERFORM check_next_queued(of_conversation); END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER approval_requests_free_conversation
  AFTER INSERT ON approval_requests
  FOR EACH ROW EXECUTE FUNCTION free_conversation();

CREATE OR REPLACE TRIGGER waits_free_conversation AFTER INSERT ON waits FOR EACH ROW
  WHEN (NEW.kind IN ('human', 'connection')) EXECUTE FUNCTION free_conversation();
