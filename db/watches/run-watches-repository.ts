// Stores which runs each API process watches, with a row for each run and process. Statements that change runs read
// these rows (notify-watchers.ts).
import { sql } from 'kysely';
import { isVisibleTo } from '../access/reach.js';
import type { Db } from '../core/client.js';
import { createStatement } from '../core/statement.js';
import type { Role, StoredRunStatus } from '../core/tables.js';
import { isLive } from '../sessions/sessions-repository.js';
import { changesJoin, toVersion, versionColumns, type Version, type VersionRow } from './run-version.js';

/** A process that dies stops renewing its watches. After the lease, changes are not reported to it any more. */
const LEASE_SECONDS = 60;

const until = sql`now() + make_interval(secs => ${LEASE_SECONDS})`;

export interface Watch {
  runId: string;
  /** True if a reader in the watching process wants the run's deltas. */
  deltas: boolean;
  /** True if the readers in the watching process only wait for the run's end. */
  endsOnly: boolean;
}

/**
 * Watches runs; `watches` names each run once. Changes are reported from the commit on. A statement that started
 * earlier does not report its change, and may commit after the caller's next read of the run. So the caller must read
 * the run once more a little later.
 */
export async function watchRuns(db: Db, listener: string, watches: Watch[]): Promise<void> {
  await insertWatches(db, {
    listener,
    runIds: watches.map(({ runId }) => runId),
    deltas: watches.map(({ deltas }) => deltas),
    endsOnly: watches.map(({ endsOnly }) => endsOnly),
  });
}

// The statements that `createStatement` builds below have lists in subqueries, which hide their lengths from
// PostgreSQL's planner, so that one generic plan serves all calls.

const insertWatches = createStatement<
  { listener: string; runIds: string[]; deltas: boolean[]; endsOnly: boolean[] },
  Record<string, never>
>(
  ['listener', 'runIds', 'deltas', 'endsOnly'],
  ({ listener, runIds, deltas, endsOnly }) => sql`
    INSERT INTO run_watches (run_id, listener, until, deltas, ends_only)
    SELECT id, ${listener}::uuid, ${until}, deltas, ends_only
    FROM unnest((SELECT ${runIds}::uuid[]), (SELECT ${deltas}::boolean[]), (SELECT ${endsOnly}::boolean[]))
      AS asked (id, deltas, ends_only)
    ORDER BY id
    ON CONFLICT (run_id, listener) DO UPDATE SET until = excluded.until, deltas = excluded.deltas,
      ends_only = excluded.ends_only`,
);

/** Renews these watches, and deletes the process's other ones and expired ones of any process. */
export async function renewWatches(db: Db, listener: string, watches: Watch[]): Promise<void> {
  const runIds = watches.map(({ runId }) => runId);
  await sql`
    DELETE FROM run_watches
    WHERE (listener = ${listener}::uuid AND run_id <> ALL (${runIds}::uuid[])) OR until < now() - interval '1 minute'`.execute(
    db,
  );
  if (runIds.length > 0) await watchRuns(db, listener, watches);
}

export interface RunState extends Version {
  runId: string;
  status: StoredRunStatus;
}

/** Returns the states of these runs without their contents. Leaves out unknown runs. */
export async function readRunStates(db: Db, runIds: string[]): Promise<RunState[]> {
  const rows = await selectStates(db, { runIds });
  return rows.map((row) => ({ runId: row.run_id, status: row.run_status, ...toVersion(row) }));
}

const selectStates = createStatement<{ runIds: string[] }, VersionRow & { run_id: string }>(
  ['runIds'],
  ({ runIds }) => sql`
    SELECT run.id AS run_id, ${versionColumns}
    FROM unnest((SELECT ${runIds}::uuid[])) AS asked (id) JOIN runs AS run ON run.id = asked.id ${changesJoin}`,
);

/** Returns the ids of those runs that have ended. */
export async function findEndedRuns(db: Db, runIds: string[]): Promise<string[]> {
  const rows = await selectEnded(db, { runIds });
  return rows.map(({ id }) => id);
}

const selectEnded = createStatement<{ runIds: string[] }, { id: string }>(
  ['runIds'],
  ({ runIds }) => sql`
    SELECT run.id FROM unnest((SELECT ${runIds}::uuid[])) AS asked (id) JOIN runs AS run ON run.id = asked.id
    WHERE run.status <> 'In Progress'`,
);

/** A reader and its credentials. An admitted stream ends when its key or session does. */
export interface Reader {
  userId: number;
  keyId?: number | undefined;
  /** The id of the session, if this service issued it. */
  sessionId?: string | undefined;
}

export interface Viewer extends Reader {
  runId: string;
}

/**
 * Returns, in the order of `viewers`, the role of each user in the run's project; null if the user is not an active
 * member or may not see the run, the run's results have expired, the key is no longer valid for the project, or the
 * session has ended.
 */
export async function findRoles(db: Db, viewers: Viewer[]): Promise<(Role | null)[]> {
  const rows = await selectRoles(db, {
    runIds: viewers.map(({ runId }) => runId),
    userIds: viewers.map(({ userId }) => userId),
    keyIds: viewers.map(({ keyId }) => keyId ?? null),
    sessionIds: viewers.map(({ sessionId }) => sessionId ?? null),
  });
  return rows.map(({ role }) => role);
}

/** Must check the same as the admission of a key (`countKeyRequests`, `isInReach`). */
const isGoodKey = sql`EXISTS (
  SELECT FROM api_keys AS key JOIN users ON users.id = key.user_id AND users.api_access
  WHERE key.id = asked.key_id AND key.user_id = asked.user_id AND (key.expires_at IS NULL OR key.expires_at > now())
    AND project.id = coalesce(key.project_id, project.id)
)`;

const isLiveSession = sql`EXISTS (
  SELECT FROM sessions WHERE sessions.id = asked.session_id AND sessions.user_id = asked.user_id AND ${isLive}
)`;

const selectRoles = createStatement<
  { runIds: string[]; userIds: number[]; keyIds: (number | null)[]; sessionIds: (string | null)[] },
  { role: Role | null }
>(
  ['runIds', 'userIds', 'keyIds', 'sessionIds'],
  ({ runIds, userIds, keyIds, sessionIds }) => sql`
    SELECT CASE WHEN asked.session_id IS NULL OR ${isLiveSession} THEN (
      SELECT member.role FROM runs AS run JOIN projects AS project ON project.id = run.project_id AND project.deleted_at IS NULL
      JOIN project_members AS member ON member.project_id = project.id AND member.user_id = asked.user_id
      JOIN users AS reader ON reader.id = member.user_id AND reader.is_active
      WHERE run.id = asked.run_id AND ${isVisibleTo('run', sql`asked.user_id`)} AND run.results_expired_at IS NULL AND (asked.key_id IS NULL OR ${isGoodKey})
    ) END AS role
    FROM unnest((SELECT ${runIds}::uuid[]), (SELECT ${userIds}::integer[]), (SELECT ${keyIds}::integer[]),
      (SELECT ${sessionIds}::uuid[])) WITH ORDINALITY AS asked (run_id, user_id, key_id, session_id, ordinal)
    ORDER BY ordinal`,
);
