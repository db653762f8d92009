import { sql, type Kysely } from 'kysely';

/** Pools of workers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE projects ADD COLUMN pool text, ADD COLUMN pools text[] NOT NULL DEFAULT '{}';
    COMMENT ON COLUMN projects.pool IS 'The pool whose workers execute its nodes; null is \`default\`.';
    COMMENT ON COLUMN projects.pools IS 'The other pools that its nodes may name.';

    CREATE TABLE workers (
      id uuid PRIMARY KEY,
      pool text NOT NULL,
      build_id text,
      started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      stopped_at timestamptz
    );
    COMMENT ON TABLE workers IS
      'Worker processes, and when each of them was alive. Writer: the worker. The API deletes old rows.';
    COMMENT ON COLUMN workers.build_id IS 'The build of a versioned worker.';
    COMMENT ON COLUMN workers.stopped_at IS 'When it began to stop; it takes no nodes from then on.';

    CREATE TABLE pool_nodes (
      run_id uuid NOT NULL,
      path text NOT NULL,
      node_id text NOT NULL,
      pool text NOT NULL,
      build_id text,
      due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (run_id, path, node_id)
    );
    COMMENT ON TABLE pool_nodes IS
      'Nodes in progress that another pool than the default one executes. Writers: a worker of the default pool adds a '
      'node before it enters the queue of its pool; the API deletes those that have ended.';
    COMMENT ON COLUMN pool_nodes.build_id IS 'The build on which the run is executed, of versioned workers.';
    COMMENT ON COLUMN pool_nodes.due_at IS 'When the node, or its present step, entered the queue of the pool.';

    ALTER TABLE waits ADD COLUMN pool text;
    ALTER TABLE waits DROP CONSTRAINT waits_kind_check;
    ALTER TABLE waits DROP CONSTRAINT waits_connection;
    -- Not validated, because the rows that exist have passed narrower checks, and a scan would block writers.
    ALTER TABLE waits ADD CONSTRAINT waits_kind_check
      CHECK (kind IN ('time', 'callback', 'human', 'child', 'connection', 'worker')) NOT VALID;
    ALTER TABLE waits ADD CONSTRAINT waits_connection CHECK ((kind = 'connection') = (connection_id IS NOT NULL)
      AND (kind IN ('connection', 'worker')) = (call < 0) AND (kind IN ('connection', 'worker')) = (started_at IS NOT NULL))
      NOT VALID;
    ALTER TABLE waits ADD CONSTRAINT waits_pool CHECK ((kind = 'worker') = (pool IS NOT NULL)) NOT VALID;
    COMMENT ON COLUMN waits.pool IS
      'The pool for whose workers the node waits since \`started_at\` (kind \`worker\`). The API starts and ends such waits.';
    COMMENT ON COLUMN waits.call IS
      'The number of the agent''s tool call that waits, from 1 over all turns; 0 for the node itself; -1, -2 and so on '
      'for waits for a connection or for a worker, one after the other.';
    CREATE INDEX waits_of_pool ON waits (pool) WHERE kind = 'worker' AND closed_at IS NULL`.execute(db);
}
