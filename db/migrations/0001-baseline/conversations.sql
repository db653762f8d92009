-- Conversations with workflows (docs/adr/0029-queue-of-a-conversation.md).

-- The lock of the row orders the messages and their runs.
CREATE TABLE conversations (
  id uuid PRIMARY KEY,
  workflow_id integer NOT NULL REFERENCES workflows (id),
  project_id integer NOT NULL REFERENCES projects (id),
  author_id integer NOT NULL REFERENCES users (id),
  title text NOT NULL,
  end_user text,
  inputs_enc bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE conversations IS
  'Conversations with workflows. Writers: the API; retention deletes those of deleted workflows and projects.';
COMMENT ON COLUMN conversations.end_user IS 'The author''s name for an end user.';
COMMENT ON COLUMN conversations.inputs_enc IS 'The other fields of the trigger for each message, sealed.';

CREATE INDEX conversations_newest ON conversations (workflow_id, created_at, id) INCLUDE (author_id, end_user);
CREATE INDEX conversations_of_project ON conversations (project_id);

CREATE TABLE conversation_messages (
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
);

COMMENT ON TABLE conversation_messages IS
  'Messages, each with its answer, so that the end of the run writes one row. Writers: the API, and a trigger on '
  '`runs` at the end of the message''s run. A message is deleted with its conversation.';
COMMENT ON COLUMN conversation_messages.ordinal IS
  'The place in the conversation, from 1; runs get their turn in this order.';
COMMENT ON COLUMN conversation_messages.follows IS 'The message before it in its branch; null for the first one.';
COMMENT ON COLUMN conversation_messages.replaces IS 'The message that it replaces.';
COMMENT ON COLUMN conversation_messages.content IS 'Secrets masked.';
COMMENT ON COLUMN conversation_messages.content_enc IS 'The whole content, sealed; null where nothing of it is masked.';
COMMENT ON COLUMN conversation_messages.files IS 'File values.';
COMMENT ON COLUMN conversation_messages.answer_id IS 'Null until the run has ended.';
COMMENT ON COLUMN conversation_messages.answer IS 'Secrets masked; null unless the run has succeeded.';
COMMENT ON COLUMN conversation_messages.is_answer_cut IS 'True: the answer is longer than what is kept here.';
