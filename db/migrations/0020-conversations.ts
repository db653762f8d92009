import { sql, type Kysely } from 'kysely';
import { triggersOf, type Counted } from './0013-stored-bytes.js';

/** Conversations with workflows. Extensions, section 13; ADR 29. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...workflows, ...tables, ...runs, ...COUNTED.flatMap(triggersOf), ...turns, ...files])
    await sql.raw(statement).execute(db);
}

const workflows = [
  `ALTER TABLE workflows ADD COLUMN is_chat boolean NOT NULL DEFAULT false`,
  `CREATE INDEX workflows_chats ON workflows (project_id, id) WHERE is_chat AND archived_at IS NULL`,
];

const tables = [
  // The row is the lock under which messages get their place, and runs their turn.
  `CREATE TABLE conversations (
    id uuid PRIMARY KEY,
    workflow_id integer NOT NULL REFERENCES workflows (id),
    project_id integer NOT NULL REFERENCES projects (id),
    author_id integer NOT NULL REFERENCES users (id),
    title text NOT NULL,
    end_user text,
    inputs_enc bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  )`,
  `CREATE INDEX conversations_newest ON conversations (workflow_id, created_at, id) INCLUDE (author_id, end_user)`,
  `CREATE INDEX conversations_of_project ON conversations (project_id)`,
  // A message together with its answer, so that the end of the run writes one row. `follows` is the message before it
  // in its branch. `content_enc` is what the author wrote, where that holds secrets.
  `CREATE TABLE conversation_messages (
    id uuid PRIMARY KEY,
    conversation_id uuid NOT NULL REFERENCES conversations (id),
    ordinal integer NOT NULL,
    run_id uuid NOT NULL UNIQUE REFERENCES runs (id),
    follows uuid,
    replaces uuid,
    content text NOT NULL,
    content_enc bytea,
    files json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    answer_id uuid UNIQUE,
    answer text,
    answer_files json,
    is_answer_cut boolean NOT NULL DEFAULT false,
    answered_at timestamptz,
    UNIQUE (conversation_id, ordinal),
    CHECK ((answer_id IS NULL) = (answered_at IS NULL))
  )`,
];

const runs = [
  // A queued run is accepted, and gets its input and its graph when its turn has come.
  `ALTER TABLE runs ADD COLUMN conversation_id uuid, ADD COLUMN is_queued boolean NOT NULL DEFAULT false`,
  `CREATE INDEX runs_of_conversation ON runs (conversation_id)
    WHERE conversation_id IS NOT NULL AND status = 'In Progress'`,
];

/** An answer is never refused, because it was paid for. */
const COUNTED: Counted[] = [
  {
    table: 'conversations',
    columns: '',
    bytes: 'octet_length(ROW.inputs_enc)',
    project: 'ROW.project_id',
    refuses: 'true',
  },
  {
    table: 'conversation_messages',
    columns: 'answer, answer_files',
    bytes: `greatest(octet_length(ROW.content), octet_length(ROW.content_enc)) + octet_length(ROW.files::text)
      + coalesce(octet_length(ROW.answer), 0) + coalesce(octet_length(ROW.answer_files::text), 0)`,
    project: '(SELECT project_id FROM conversations WHERE id = ROW.conversation_id)',
    refuses: `TG_OP = 'INSERT'`,
  },
];

const turns = [
  `CREATE FUNCTION waits_for_person(asked uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
  DECLARE
    asked_runs uuid[] := asked || ARRAY(SELECT id FROM runs WHERE root_run_id = asked AND status = 'In Progress');
  BEGIN
    RETURN EXISTS (SELECT FROM approval_requests WHERE run_id = ANY (asked_runs) AND status = 'pending')
      OR EXISTS (
        SELECT FROM waits WHERE run_id = ANY (asked_runs) AND kind IN ('human', 'connection')
          AND answered_at IS NULL AND closed_at IS NULL);
  END $$`,
  // The reconciler looks at the next run of the conversation. One whose row is locked is being looked at, or cancelled.
  `CREATE FUNCTION call_next_turn(of_conversation uuid) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE runs SET next_check_at = now() WHERE id IN (
      SELECT run.id FROM runs AS run
      WHERE run.status = 'In Progress' AND run.is_queued AND run.id = (
        SELECT message.run_id FROM conversation_messages AS message JOIN runs AS queued ON queued.id = message.run_id
        WHERE queued.conversation_id = of_conversation AND queued.status = 'In Progress' AND queued.is_queued
        ORDER BY message.ordinal LIMIT 1)
      FOR NO KEY UPDATE SKIP LOCKED);
    -- Whoever is told looks at once; else the next round finds it.
    IF FOUND THEN PERFORM pg_notify('run_changes', 'turn'); END IF;
  END $$`,
  // The function returns the value of a run's output node, or else what its last node put out, as findRunResult chooses
  // it. Data that cannot be read as text must not keep a run from its end.
  `CREATE FUNCTION answer_of_run(asked uuid, OUT answer text, OUT named text[]) LANGUAGE plpgsql STABLE AS $$
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
        'file_id\\\\*"\\s*:\\s*\\\\*"([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})\\\\*"', 'g')
        AS hit);
    END IF;
  EXCEPTION WHEN data_exception THEN
    answer := NULL;
  END $$`,
  // The end of a run writes its answer in the same transaction. 262,144 characters of it are kept: as many bytes of
  // messages as a later run gets.
  `CREATE FUNCTION end_turn() RETURNS trigger LANGUAGE plpgsql AS $$
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
    PERFORM call_next_turn(NEW.conversation_id);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER runs_turn_ended AFTER UPDATE OF status ON runs FOR EACH ROW
    WHEN (NEW.conversation_id IS NOT NULL AND OLD.status = 'In Progress' AND NEW.status <> 'In Progress')
    EXECUTE FUNCTION end_turn()`,
  // A run that begins to wait for a person holds its conversation no longer.
  `CREATE FUNCTION leave_turn() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    of_conversation uuid;
  BEGIN
    SELECT root.conversation_id INTO of_conversation
    FROM runs AS waiting JOIN runs AS root ON root.id = coalesce(waiting.root_run_id, waiting.id)
    WHERE waiting.id = NEW.run_id;
    IF of_conversation IS NOT NULL THEN PERFORM call_next_turn(of_conversation); END IF;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER approval_requests_turn AFTER INSERT ON approval_requests FOR EACH ROW EXECUTE FUNCTION leave_turn()`,
  `CREATE TRIGGER waits_turn AFTER INSERT ON waits FOR EACH ROW
    WHEN (NEW.kind IN ('human', 'connection')) EXECUTE FUNCTION leave_turn()`,
];

/** The references of a message and its answer to files go with them. */
const files = [
  `CREATE FUNCTION drop_file_references_of_messages() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM file_references WHERE kind = 'message' AND holder IN (OLD.id::text, OLD.answer_id::text);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER conversation_messages_file_references AFTER DELETE ON conversation_messages
    FOR EACH ROW EXECUTE FUNCTION drop_file_references_of_messages()`,
  // The inputs of a conversation may hold files, too.
  `CREATE FUNCTION drop_file_references_of_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM file_references WHERE kind = 'message' AND holder = OLD.id::text;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER conversations_file_references AFTER DELETE ON conversations
    FOR EACH ROW EXECUTE FUNCTION drop_file_references_of_conversations()`,
];
