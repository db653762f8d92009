import { sql, type Kysely } from 'kysely';

/** Human tasks: what a run asks people, and what they answer. Extensions, sections 1.2 and 1.4. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...tasks, ...waits, ...events]) await sql.raw(statement).execute(db);
}

const tasks = [
  // The project and the label are copies, as in approval requests. `roles` and `users` say who may answer.
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

const waits = [
  `ALTER TABLE waits DROP CONSTRAINT waits_kind_check, DROP CONSTRAINT waits_answer,
    ADD CONSTRAINT waits_kind_check CHECK (kind IN ('time', 'callback', 'human', 'child')),
    ADD CONSTRAINT waits_answer CHECK (answered_at IS NULL OR kind <> 'callback' OR token_hash IS NOT NULL)`,
];

const events = [
  `ALTER TABLE run_events DROP CONSTRAINT run_events_kind_check,
    ADD CONSTRAINT run_events_kind_check CHECK (kind IN ('run', 'node', 'approval', 'human_task'))`,
  // As in 0014-run-events.ts, with the tasks among the facts.
  `CREATE OR REPLACE FUNCTION order_run_events(asked uuid[]) RETURNS TABLE (of_run uuid, last_version bigint) LANGUAGE plpgsql AS $$
  DECLARE
    lock_key bigint;
  BEGIN
    FOR lock_key IN SELECT DISTINCT hashtextextended(given::text, 16) FROM unnest(asked) AS given ORDER BY 1 LOOP
      PERFORM pg_advisory_xact_lock(lock_key);
    END LOOP;
    WITH run AS MATERIALIZED (
      SELECT id, status, run_started_at IS NOT NULL AS is_started,
        1000000 * (1 + (run_started_at IS NOT NULL)::integer + (status <> 'In Progress')::integer
          + (SELECT count(*) + count(*) FILTER (WHERE node.status <> 'in progress')
            FROM node_results AS node WHERE node.run_id = runs.id)
          + (SELECT count(*) + count(*) FILTER (WHERE request.status <> 'pending')
            FROM approval_requests AS request WHERE request.run_id = runs.id)
          + (SELECT count(*) + count(*) FILTER (WHERE task.status <> 'pending')
            FROM human_tasks AS task WHERE task.run_id = runs.id)) AS reached,
        coalesce((SELECT max(version) FROM run_events AS known WHERE known.run_id = runs.id), 0) AS last
      FROM runs WHERE id = ANY (asked)
    ), news AS (
      SELECT run.id AS run_id, run.reached, run.last, fact.* FROM run CROSS JOIN LATERAL (
        SELECT 'run' AS kind, '' AS path, '' AS subject, run.status,
          CASE run.status WHEN 'In Progress' THEN 0 ELSE 2 END AS place, NULL::timestamptz AS moment
        WHERE run.is_started OR run.status <> 'In Progress'
        UNION ALL
        SELECT 'node', path, node_id, node_results.status, 1, coalesce(finished_at, started_at)
        FROM node_results WHERE node_results.run_id = run.id
        UNION ALL
        SELECT 'approval', path, request_id, 'pending', 1, created_at
        FROM approval_requests WHERE approval_requests.run_id = run.id
        UNION ALL
        SELECT 'approval', path, request_id, approval_requests.status, 1, coalesce(decided_at, expires_at)
        FROM approval_requests WHERE approval_requests.run_id = run.id AND approval_requests.status <> 'pending'
        UNION ALL
        SELECT 'human_task', path, task_id::text, 'pending', 1, created_at
        FROM human_tasks WHERE human_tasks.run_id = run.id
        UNION ALL
        SELECT 'human_task', path, task_id::text, human_tasks.status, 1, settled_at
        FROM human_tasks WHERE human_tasks.run_id = run.id AND human_tasks.status <> 'pending'
      ) AS fact
      WHERE NOT EXISTS (
        SELECT FROM run_events AS known
        WHERE known.run_id = ANY (asked) AND known.run_id = run.id AND known.kind = fact.kind
          AND known.path = fact.path AND known.subject = fact.subject AND known.status = fact.status)
    )
    INSERT INTO run_events (run_id, version, kind, path, subject, status)
    SELECT run_id,
      greatest(reached, last + count(*) OVER of_its_run) - count(*) OVER of_its_run + row_number() OVER in_order,
      kind, path, subject, status
    FROM news
    WINDOW of_its_run AS (PARTITION BY run_id),
      in_order AS (PARTITION BY run_id ORDER BY place, moment, kind, path, subject, status <> 'pending');
    RETURN QUERY SELECT given, coalesce((SELECT max(version) FROM run_events AS known WHERE known.run_id = given), 0)
      FROM unnest(asked) AS given;
  END $$`,
];
