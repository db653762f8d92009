import { sql, type Kysely } from 'kysely';
import { triggersOf, type Counted } from './0013-stored-bytes.js';

/** Files, their stored copies, and what refers to them. Extensions, section 12. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...tables, ...COUNTED.flatMap(triggersOf), ...tasks, ...holders])
    await sql.raw(statement).execute(db);
}

const tables = [
  // The store that this database belongs to. Its mark stands in the store, too.
  `CREATE TABLE file_store (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    mark uuid NOT NULL
  )`,
  // The bytes in the store. A copy is `writing` until its hash is known, and `stored` copies of a project differ from one
  // another. `seal` is the id of the key and the salt. A process that writes touches the row every few seconds.
  `CREATE TABLE file_copies (
    id uuid PRIMARY KEY,
    project_id integer NOT NULL REFERENCES projects (id),
    name text NOT NULL,
    status text NOT NULL DEFAULT 'writing' CHECK (status IN ('writing', 'stored', 'deleting')),
    bytes bigint NOT NULL DEFAULT 0,
    sha256 bytea,
    seal bytea NOT NULL,
    touched_at timestamptz NOT NULL DEFAULT now(),
    CHECK (status <> 'stored' OR sha256 IS NOT NULL)
  )`,
  `CREATE UNIQUE INDEX file_copies_stored ON file_copies (project_id, sha256) WHERE status = 'stored'`,
  `CREATE INDEX file_copies_open ON file_copies (touched_at) WHERE status <> 'stored'`,
  // A file without a copy was deleted while something still referred to it.
  `CREATE TABLE files (
    id uuid PRIMARY KEY,
    project_id integer NOT NULL REFERENCES projects (id),
    copy_id uuid REFERENCES file_copies (id),
    name text NOT NULL,
    type text NOT NULL,
    size bigint NOT NULL,
    sha256 bytea NOT NULL,
    run_id uuid REFERENCES runs (id),
    user_id integer REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX files_newest ON files (project_id, created_at, id)`,
  `CREATE INDEX files_largest ON files (project_id, size, id)`,
  `CREATE INDEX files_of_copy ON files (copy_id)`,
  `CREATE INDEX files_oldest ON files (created_at)`,
  // `holder` names the row that refers to the file: the id of a run, case or schedule, `WORKFLOW/VERSION` of a drawing,
  // `WORKFLOW/PATH/NODE` of a pin.
  `CREATE TABLE file_references (
    file_id uuid NOT NULL REFERENCES files (id),
    kind text NOT NULL CHECK (kind IN ('run', 'pin', 'case', 'drawing', 'schedule', 'message')),
    holder text COLLATE "C" NOT NULL,
    PRIMARY KEY (file_id, kind, holder)
  )`,
  `CREATE INDEX file_references_of ON file_references (kind, holder)`,
];

/** Equal bytes of a project are stored once, and counted once. What is being written counts, too. */
const COUNTED: Counted[] = [
  {
    table: 'file_copies',
    columns: 'bytes',
    bytes: 'ROW.bytes',
    project: 'ROW.project_id',
    refuses: 'true',
  },
];

/** Tasks show files to people. Their names count, too. */
const tasks = [
  `ALTER TABLE human_tasks ADD COLUMN files json NOT NULL DEFAULT '[]'`,
  `DROP FUNCTION count_bytes_of_human_tasks() CASCADE`,
  ...triggersOf({
    table: 'human_tasks',
    columns: 'message, fields, files',
    bytes: 'octet_length(ROW.message) + octet_length(ROW.fields::text) + octet_length(ROW.files::text) - 2',
    project: 'ROW.project_id',
    refuses: 'true',
  }),
];

/** A reference goes with the row that refers. Those of runs go with their results (db/retention/). */
const holders = [
  { table: 'pins', kind: 'pin', holder: `OLD.workflow_id || '/' || OLD.path || '/' || OLD.node_id` },
  { table: 'cases', kind: 'case', holder: 'OLD.id::text' },
  { table: 'workflow_versions', kind: 'drawing', holder: `OLD.workflow_id || '/' || OLD.version` },
  { table: 'schedules', kind: 'schedule', holder: 'OLD.id::text' },
].flatMap(({ table, kind, holder }) => [
  `CREATE FUNCTION drop_file_references_of_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM file_references WHERE kind = '${kind}' AND holder = ${holder};
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER ${table}_file_references AFTER DELETE ON ${table}
    FOR EACH ROW EXECUTE FUNCTION drop_file_references_of_${table}()`,
]);
