import { sql, type Kysely } from 'kysely';

/** Human tasks: what a run asks people, and what they answer. Extensions, sections 1.2 and 1.4. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // The project and the label are copies, as in approval requests. `roles` and `users` say who may answer. `counted` counts the
  // answers that were counted and have not settled the task.
  `CREATE TABLE human_tasks (
    task_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    project_id integer NOT NULL,
    node_label text NOT NULL,
    message text NOT NULL,
    fields json NOT NULL,
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
  )`,
  `CREATE INDEX human_tasks_newest ON human_tasks (project_id, created_at, task_id) INCLUDE (status, expires_at)`,
  `CREATE INDEX human_tasks_pending ON human_tasks (project_id, created_at, task_id)
    INCLUDE (expires_at) WHERE status = 'pending'`,
  // `entered`: values by the ids of the fields, as readers see them. What the run gets is sealed where it differs.
  `CREATE TABLE human_answers (
    task_id uuid NOT NULL REFERENCES human_tasks (task_id) ON DELETE CASCADE,
    user_id integer NOT NULL REFERENCES users (id),
    action text NOT NULL,
    entered json NOT NULL,
    entered_enc bytea,
    comment text NOT NULL,
    answered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (task_id, user_id)
  )`,
];
