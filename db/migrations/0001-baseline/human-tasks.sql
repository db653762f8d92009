-- The tasks that runs give to people, and their answers.

CREATE TABLE human_tasks (
  task_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  run_id uuid NOT NULL REFERENCES runs (id),
  path text NOT NULL DEFAULT '',
  node_id text NOT NULL,
  project_id integer NOT NULL,
  node_label text NOT NULL,
  message text NOT NULL,
  fields json NOT NULL,
  files json NOT NULL DEFAULT '[]',
  actions json NOT NULL,
  roles text[] NOT NULL,
  users integer[] NOT NULL,
  exclude_starter boolean NOT NULL,
  required integer NOT NULL,
  counted integer NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'answered', 'expired')),
  action text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  settled_at timestamptz,
  UNIQUE (run_id, path, node_id),
  CHECK ((status = 'answered') = (action IS NOT NULL)),
  CHECK ((status = 'pending') = (settled_at IS NULL))
);

COMMENT ON TABLE human_tasks IS
  'Questions of runs to people. Writers: the worker asks, and expires tasks that nobody has answered in time; the API settles a '
  'task by an answer, under the lock of the row; retention deletes what has expired.';
COMMENT ON COLUMN human_tasks.project_id IS 'A copy of the run''s.';
COMMENT ON COLUMN human_tasks.node_label IS 'The label as drawn when the run was accepted, at most 60 characters.';
COMMENT ON COLUMN human_tasks.message IS 'With its variables filled in, secrets masked.';
COMMENT ON COLUMN human_tasks.fields IS 'In the form of a trigger''s fields.';
COMMENT ON COLUMN human_tasks.files IS 'File values that the people see.';
COMMENT ON COLUMN human_tasks.actions IS '`{id, label}` each.';
COMMENT ON COLUMN human_tasks.roles IS 'Members of the project with one of these roles may answer.';
COMMENT ON COLUMN human_tasks.users IS 'Members of the project with one of these ids may answer.';
COMMENT ON COLUMN human_tasks.counted IS
  'How many answers were counted and have not settled the task: versions of the run count them.';
COMMENT ON COLUMN human_tasks.action IS 'The action that enough people have chosen.';

CREATE INDEX human_tasks_newest ON human_tasks (project_id, created_at, task_id) INCLUDE (status, expires_at);
CREATE INDEX human_tasks_pending ON human_tasks (project_id, created_at, task_id)
  INCLUDE (expires_at) WHERE status = 'pending';

CREATE TABLE human_answers (
  task_id uuid NOT NULL REFERENCES human_tasks (task_id) ON DELETE CASCADE,
  user_id integer NOT NULL REFERENCES users (id),
  action text NOT NULL,
  entered json NOT NULL,
  entered_enc bytea,
  comment text NOT NULL,
  answered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (task_id, user_id)
);

COMMENT ON TABLE human_answers IS 'Answers to tasks, one row a person. Writer: the API.';
COMMENT ON COLUMN human_answers.entered IS 'Values by the ids of the fields, secrets masked.';
COMMENT ON COLUMN human_answers.entered_enc IS 'The unmasked values, sealed; null when nothing is masked.';
