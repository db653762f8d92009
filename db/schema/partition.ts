// Divides the table of node results by the hash of their run, while the service works (docs/operate/capacity.md).
//
// A trigger copies every change into the partitioned table, rows that were there before are copied in batches, and a
// short exclusive lock exchanges the tables. Every step can be repeated: if the process dies, the next call continues.
import { sql, type RawBuilder } from 'kysely';
import type { Database, Db } from '../core/client.js';
import { patiently, setLockTimeout } from './locks.js';
import { applyRoutines, shippedRoutines } from './routines.js';

const TABLE = 'node_results';
const KEY = ['run_id', 'path', 'node_id'];
/** The name of the partitioned table until `exchange` renames it. */
const NEXT = 'node_results_next';
const MIRROR = 'node_results_mirror';
/** A batch ends with the row that reaches one of these limits, because changes of its rows wait for its commit. */
const BATCH_ROWS = 5_000;
const BATCH_BYTES = 32 * 1024 * 1024;
/** The time for which `prepare`, each batch and `exchange` retry to get their locks. */
const PATIENCE_MS = 120_000;

export interface Partitioned {
  partitions: number;
  /** How many rows this call has copied. */
  copied: number;
}

/**
 * Partitions the table. `partitions` is ignored if an earlier call has created the partitions. Returns undefined if the
 * table is partitioned already.
 */
export async function partitionNodeResults(db: Database, partitions: number): Promise<Partitioned | undefined> {
  if (await isPartitioned(db)) return undefined;
  const existing = await patiently(db, deadline(), () => prepare(db, partitions));
  const copied = await copyAll(db);
  await db.transaction().execute(async (trx) => {
    await liftTimeLimit(trx);
    await sql`ANALYZE ${sql.table(NEXT)}`.execute(trx);
  });
  await patiently(db, deadline(), () => exchange(db));
  return { partitions: existing, copied };
}

function deadline(): number {
  return performance.now() + PATIENCE_MS;
}

async function isPartitioned(db: Db): Promise<boolean> {
  const { rows } = await sql<{ kind: string }>`
    SELECT relkind AS kind FROM pg_class WHERE oid = to_regclass(${TABLE})`.execute(db);
  return rows[0]?.kind === 'p';
}

/** Creates the partitioned table and the trigger, unless they exist. Returns the number of partitions. */
function prepare(db: Database, partitions: number): Promise<number> {
  return db.transaction().execute(async (trx) => {
    await setLockTimeout(trx);
    const next = sql.table(NEXT);
    const { rows } = await sql<{ partitions: number | null }>`
      SELECT (SELECT count(*)::integer FROM pg_inherits WHERE inhparent = found.id) AS partitions
      FROM to_regclass(${NEXT}) AS found (id) WHERE found.id IS NOT NULL`.execute(trx);
    if (rows[0] !== undefined) return rows[0].partitions!;
    await sql`CREATE TABLE ${next} (LIKE ${sql.table(TABLE)} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMMENTS
      INCLUDING STORAGE INCLUDING COMPRESSION, PRIMARY KEY (${sql.join(KEY.map((name) => sql.ref(name)))}),
      FOREIGN KEY (run_id) REFERENCES runs (id)) PARTITION BY HASH (run_id)`.execute(trx);
    for (let part = 0; part < partitions; part++) {
      await sql`CREATE TABLE ${sql.table(`${TABLE}_${part}`)} PARTITION OF ${next}
        FOR VALUES WITH (MODULUS ${sql.lit(partitions)}, REMAINDER ${sql.lit(part)}) WITH (fillfactor = 80)`.execute(
        trx,
      );
    }
    await sql`CREATE INDEX ON ${next} (run_id, node_id, path) WHERE is_iteration`.execute(trx);
    await createMirror(trx);
    return partitions;
  });
}

/** The service's role has no rights on the new table, so the function has those of its owner. */
async function createMirror(trx: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = ${TABLE}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`.execute(trx);
  const columns = rows.map(({ name }) => `"${name}"`).join(', ');
  const values = rows.map(({ name }) => `NEW."${name}"`).join(', ');
  const ofOld = KEY.map((name) => `${name} = OLD.${name}`).join(' AND ');
  await sql
    .raw(
      `
      CREATE FUNCTION ${MIRROR}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
      BEGIN
        IF TG_OP <> 'INSERT' THEN DELETE FROM ${NEXT} WHERE ${ofOld}; END IF;
        IF TG_OP <> 'DELETE' THEN INSERT INTO ${NEXT} (${columns}) VALUES (${values}); END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER ${MIRROR} AFTER INSERT OR UPDATE OR DELETE ON ${TABLE} FOR EACH ROW EXECUTE FUNCTION ${MIRROR}();`,
    )
    .execute(trx);
}

interface Position {
  runId: string;
  path: string;
  nodeId: string;
}

async function copyAll(db: Database): Promise<number> {
  let copied = 0;
  let after: Position | undefined;
  do {
    const from = after;
    const batch = await patiently(db, deadline(), () => copyBatch(db, from));
    copied += batch.copied;
    after = batch.last;
  } while (after !== undefined);
  return copied;
}

/**
 * Copies a batch of the rows that follow `after` in the order of the key. The rows are locked against changes until
 * their copies are committed. Otherwise the trigger's DELETE would not see the copy: a deleted row would reappear, and
 * an update would violate the primary key. The end of a run locks the run's row in `runs` and then the run's rows here;
 * a copy locks its rows first and then, by the foreign key, the row in `runs`. If the two deadlock, the lock timeout
 * ends the batch (`setLockTimeout`), and `patiently` repeats it.
 */
function copyBatch(db: Database, after: Position | undefined): Promise<{ copied: number; last?: Position }> {
  const following =
    after === undefined ? sql`true` : sql`(run_id, path, node_id) > (${after.runId}, ${after.path}, ${after.nodeId})`;
  return db.transaction().execute(async (trx) => {
    await setLockTimeout(trx);
    await liftTimeLimit(trx);
    const size = await sizeOfBatch(trx, following);
    const { rows } = await sql<Partial<Position> & { copied: number }>`
      WITH batch AS MATERIALIZED (
        SELECT * FROM ${sql.table(TABLE)} WHERE ${following} ORDER BY run_id, path, node_id LIMIT ${size} FOR SHARE
      ), stored AS (
        INSERT INTO ${sql.table(NEXT)} SELECT * FROM batch ON CONFLICT DO NOTHING RETURNING 1
      )
      SELECT (SELECT count(*)::integer FROM stored) AS copied,
        last.run_id AS "runId", last.path, last.node_id AS "nodeId"
      FROM (SELECT) AS one LEFT JOIN LATERAL (
        SELECT run_id, path, node_id FROM batch ORDER BY run_id DESC, path DESC, node_id DESC LIMIT 1
      ) AS last ON true`.execute(trx);
    const { copied, runId, path, nodeId } = rows[0]!;
    return typeof runId !== 'string' ? { copied } : { copied, last: { runId, path: path!, nodeId: nodeId! } };
  });
}

/** Returns the number of rows of the next batch. PostgreSQL finds a value's stored size without reading the value. */
async function sizeOfBatch(trx: Db, following: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ size: number }>`
    WITH due AS (
      SELECT run_id, path, node_id,
        coalesce(pg_column_size(result), 0) + coalesce(pg_column_size(result_enc), 0) AS bytes
      FROM ${sql.table(TABLE)} WHERE ${following} ORDER BY run_id, path, node_id LIMIT ${BATCH_ROWS}
    ), summed AS (
      SELECT sum(bytes) OVER (ORDER BY run_id, path, node_id) - bytes AS bytes_before FROM due
    )
    SELECT count(*)::integer AS size FROM summed WHERE bytes_before < ${BATCH_BYTES}`.execute(trx);
  return rows[0]!.size;
}

/** Disables the statement timeout until the end of the transaction: large tables take longer than it allows. */
async function liftTimeLimit(trx: Db): Promise<void> {
  await sql`SET LOCAL statement_timeout = 0`.execute(trx);
}

function exchange(db: Database): Promise<void> {
  return db.transaction().execute(async (trx) => {
    await setLockTimeout(trx);
    const [table, next] = [sql.table(TABLE), sql.table(NEXT)];
    await sql`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`.execute(trx);
    await copyRights(trx);
    await sql`DROP TABLE ${table}`.execute(trx);
    await sql.raw(`DROP FUNCTION ${MIRROR}()`).execute(trx);
    await sql`ALTER TABLE ${next} RENAME TO ${sql.id(TABLE)}`.execute(trx);
    const { rows } = await sql<{ name: string }>`
      SELECT conname AS name FROM pg_constraint WHERE conrelid = ${TABLE}::regclass AND conname LIKE ${`${NEXT}%`}`.execute(
      trx,
    );
    for (const { name } of rows) {
      const renamed = sql.id(name.replace(NEXT, TABLE));
      await sql`ALTER TABLE ${table} RENAME CONSTRAINT ${sql.id(name)} TO ${renamed}`.execute(trx);
    }
    // The triggers of the old table were dropped with it: create them on the new one.
    const isOfTable = new RegExp(`\\bON ${TABLE}\\b`);
    const files = shippedRoutines().filter(({ text }) => isOfTable.test(text));
    await applyRoutines(trx, files);
  });
}

async function copyRights(trx: Db): Promise<void> {
  const { rows } = await sql<{ grantee: string; right: string }>`
    SELECT grantee, privilege_type AS right FROM information_schema.role_table_grants
    WHERE table_schema = 'public' AND table_name = ${TABLE} AND grantee <> current_user`.execute(trx);
  for (const { grantee, right } of rows) {
    await sql`GRANT ${sql.raw(right)} ON ${sql.table(NEXT)} TO ${sql.id(grantee)}`.execute(trx);
  }
}
