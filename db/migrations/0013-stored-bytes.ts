import { sql, type Kysely } from 'kysely';

/**
 * The bytes that each project stores (extensions, section 9). Triggers write each change as a row of its own, in the
 * transaction of the value, so that the nodes of a project do not wait for one row. The changes are folded into
 * `stored_bytes` every few seconds (db/projects/stored-bytes-repository.ts). What is stored later, such as a file, counts
 * by a call of `add_stored_bytes`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const triggers = COUNTED.flatMap(triggersOf);
  for (const statement of [...tables, ...triggers, ...items]) {
    await sql.raw(statement).execute(db);
  }
}

const tables = [
  `CREATE TABLE stored_bytes (
    project_id integer PRIMARY KEY REFERENCES projects (id),
    bytes bigint NOT NULL
  ) WITH (fillfactor = 50)`,
  // No key and no index: it is only ever read as a whole, and holds the changes of seconds.
  `CREATE TABLE stored_byte_changes (
    project_id integer NOT NULL,
    bytes bigint NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
  // One row: what a project may store, as the API was told. Without a row there is no limit.
  `CREATE TABLE stored_bytes_limit (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    bytes bigint NOT NULL
  )`,
  // The graphs that the runs of a project have executed: a graph is stored once, and counts once for each project. It
  // stays, as its runs do.
  `CREATE TABLE stored_graphs (
    project_id integer NOT NULL,
    hash bytea NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (project_id, hash)
  )`,
  // Only folded bytes count for the limit, so it may be passed by the changes of the last seconds.
  `CREATE FUNCTION refuse_beyond_quota(of_project integer, added bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF added > 0 AND EXISTS (
      SELECT FROM stored_bytes_limit
      WHERE bytes < added + coalesce((SELECT kept.bytes FROM stored_bytes kept WHERE project_id = of_project), 0)
    ) THEN
      RAISE EXCEPTION 'the project would store more than it may' USING ERRCODE = 'QB413';
    END IF;
  END $$`,
  `CREATE FUNCTION add_stored_bytes(of_project integer, added bigint, may_refuse boolean) RETURNS void
  LANGUAGE plpgsql AS $$
  BEGIN
    IF may_refuse THEN PERFORM refuse_beyond_quota(of_project, added); END IF;
    INSERT INTO stored_byte_changes (project_id, bytes) VALUES (of_project, added);
  END $$`,
];

export interface Counted {
  table: string;
  /** Updates of other columns are not looked at. Empty: rows are never updated. */
  columns: string;
  /** An expression; `ROW` stands for the row. */
  bytes: string;
  project: string;
  /** Whether a row that does not fit is refused. What was paid for, or says how something failed, never is. */
  refuses: string;
  /** The condition under which an inserted row may have something to count. Default: always. */
  when?: string;
}

const OF_RUN = '(SELECT project_id FROM runs WHERE id = ROW.run_id)';
const OF_WORKFLOW = '(SELECT project_id FROM workflows WHERE id = ROW.workflow_id)';

/** The size of a sealed value is that of the value and of a few bytes more. What is stored masked and sealed counts once. */
const COUNTED: Counted[] = [
  {
    table: 'workflows',
    columns: 'document, secrets_enc, readme_guide',
    bytes:
      'octet_length(ROW.document::text) + coalesce(octet_length(ROW.secrets_enc), 0) + octet_length(ROW.readme_guide)',
    project: 'ROW.project_id',
    refuses: 'true',
  },
  {
    table: 'workflow_versions',
    columns: '',
    bytes: 'octet_length(ROW.document::text) + coalesce(octet_length(ROW.secrets_enc), 0)',
    project: OF_WORKFLOW,
    refuses: 'true',
  },
  {
    table: 'schedules',
    columns: 'input_enc',
    bytes: 'octet_length(ROW.input_enc)',
    project: OF_WORKFLOW,
    refuses: 'true',
  },
  {
    table: 'runs',
    columns: 'input, input_enc, secrets_enc, passed_secrets_enc, node_errors',
    bytes: `greatest(octet_length(ROW.input::text), octet_length(ROW.input_enc))
      + coalesce(octet_length(ROW.secrets_enc), 0) + coalesce(octet_length(ROW.passed_secrets_enc), 0)
      + coalesce(octet_length(ROW.node_errors::text), 0)`,
    project: 'ROW.project_id',
    refuses: `TG_OP = 'INSERT'`,
  },
  {
    table: 'node_results',
    columns: 'result, result_enc, error_message',
    bytes: `CASE WHEN ROW.result IS NULL THEN 0 ELSE greatest(ROW.result_bytes, octet_length(ROW.result_enc)) END
      + coalesce(octet_length(ROW.error_message), 0)`,
    project: OF_RUN,
    refuses: 'NEW.result IS NOT NULL',
    when: 'NEW.result IS NOT NULL OR NEW.error_message IS NOT NULL',
  },
  {
    table: 'node_attempts',
    columns: '',
    bytes: 'coalesce(octet_length(ROW.error_message), 0)',
    project: OF_RUN,
    refuses: 'false',
  },
  {
    table: 'agent_sessions',
    columns: '',
    bytes: 'octet_length(ROW.tools_enc)',
    project: OF_RUN,
    refuses: 'false',
  },
  {
    table: 'agent_turns',
    columns: '',
    bytes: 'octet_length(ROW.message_enc)',
    project: OF_RUN,
    refuses: 'false',
  },
  {
    table: 'agent_tool_calls',
    columns: 'answer_enc',
    bytes: 'octet_length(ROW.arguments_enc) + coalesce(octet_length(ROW.answer_enc), 0)',
    project: OF_RUN,
    refuses: 'false',
  },
  {
    table: 'approval_requests',
    columns: 'arguments, edited_enc',
    bytes: 'octet_length(ROW.arguments::text) + coalesce(octet_length(ROW.edited_enc), 0)',
    project: 'ROW.project_id',
    refuses: 'false',
  },
  {
    table: 'waits',
    columns: 'answer_enc',
    bytes: 'coalesce(octet_length(ROW.answer_enc), 0)',
    project: OF_RUN,
    refuses: 'true',
    when: 'NEW.answer_enc IS NOT NULL',
  },
  {
    table: 'human_tasks',
    columns: 'message, fields',
    bytes: 'octet_length(ROW.message) + octet_length(ROW.fields::text)',
    project: 'ROW.project_id',
    refuses: 'true',
  },
  {
    table: 'human_answers',
    columns: 'entered, entered_enc, comment',
    bytes: 'greatest(octet_length(ROW.entered::text), octet_length(ROW.entered_enc)) + octet_length(ROW.comment)',
    project: '(SELECT project_id FROM human_tasks WHERE task_id = ROW.task_id)',
    refuses: 'true',
  },
];

/** The first run of a graph in its project. Two at once wait for each other here, and one of them counts it. */
const COUNT_GRAPH = `
      IF TG_OP = 'INSERT' AND NOT EXISTS (
        SELECT FROM stored_graphs WHERE project_id = NEW.project_id AND hash = NEW.snapshot_hash
      ) THEN
        INSERT INTO stored_graphs AS graph (project_id, hash, bytes)
        SELECT NEW.project_id, hash, octet_length(document::text) FROM graph_snapshots WHERE hash = NEW.snapshot_hash
        ON CONFLICT DO NOTHING RETURNING graph.bytes INTO graph_bytes;
        added := added + coalesce(graph_bytes, 0);
      END IF;`;

export function triggersOf({ table, columns, bytes, project, refuses, when = 'true' }: Counted): string[] {
  const of = (row: string, text: string): string => text.replaceAll('ROW', row);
  const name = `count_bytes_of_${table}`;
  const trigger = (operation: string, event: string, condition = 'true'): string =>
    `CREATE TRIGGER ${name}_${operation} AFTER ${event} ON ${table}
      FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION ${name}()`;
  return [
    `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      added bigint;
      graph_bytes bigint;
    BEGIN
      IF TG_OP = 'DELETE' THEN
        added := -(${of('OLD', bytes)});
        IF added <> 0 THEN PERFORM add_stored_bytes(${of('OLD', project)}, added, false); END IF;
        RETURN NULL;
      END IF;
      added := ${of('NEW', bytes)};
      IF TG_OP = 'UPDATE' THEN added := added - (${of('OLD', bytes)}); END IF;
      ${table === 'runs' ? COUNT_GRAPH : ''}
      IF added <> 0 THEN PERFORM add_stored_bytes(${of('NEW', project)}, added, ${refuses}); END IF;
      RETURN NULL;
    END $$`,
    trigger('new', 'INSERT', when),
    ...(columns === '' ? [] : [trigger('changed', `UPDATE OF ${columns}`)]),
    trigger('gone', 'DELETE'),
  ];
}

const items = [
  // Once a statement, because a loop stores hundreds of small items at once.
  ...[
    { operation: 'new', event: 'INSERT', rows: 'NEW', sign: '' },
    { operation: 'gone', event: 'DELETE', rows: 'OLD', sign: '-' },
  ].flatMap(({ operation, event, rows, sign }) => [
    `CREATE FUNCTION count_bytes_of_${operation}_items() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM add_stored_bytes(project_id, ${sign}bytes, ${rows === 'NEW'})
      FROM (
        SELECT runs.project_id, sum(octet_length(item_enc))::bigint AS bytes
        FROM counted_items JOIN runs ON runs.id = counted_items.run_id GROUP BY runs.project_id
      ) AS counted;
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER count_bytes_of_loop_items_${operation} AFTER ${event} ON loop_items
      REFERENCING ${rows} TABLE AS counted_items
      FOR EACH STATEMENT EXECUTE FUNCTION count_bytes_of_${operation}_items()`,
  ]),
  // The answers of a task go before it, because it tells their project.
  `CREATE FUNCTION delete_answers_first() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM human_answers WHERE task_id = OLD.task_id;
    RETURN OLD;
  END $$`,
  `CREATE TRIGGER human_tasks_answers BEFORE DELETE ON human_tasks
    FOR EACH ROW EXECUTE FUNCTION delete_answers_first()`,
];
