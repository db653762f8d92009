// The watched runs, for the statements that change runs (notify-watchers.ts). One row for each run and API process.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { Role, StoredRunStatus } from '../core/tables.js';
import { isLive } from '../sessions/sessions-repository.js';
import { toStateTag, versionColumns, versionJoin, type VersionRow } from './run-version.js';

/** A process that dies stops renewing its watches. After the lease, changes are not reported to it any more. */
const LEASE_SECONDS = 60;

const until = sql`now() + make_interval(secs => ${LEASE_SECONDS})`;

export interface Watch {
  runId: string;
  /** True if a reader in that process wants its deltas. */
  deltas: boolean;
}

/**
 * Watches runs; `watches` names each run once. Changes are reported from the commit on. A statement that started
 * earlier does not report its change, and may commit after the caller's next look at the run. So the caller must look
 * once more a little later.
 */
export async function watchRuns(db: Db, listener: string, watches: Watch[]): Promise<void> {
  const runIds = watches.map(({ runId }) => runId);
  await sql`
    INSERT INTO run_watches (run_id, listener, until, deltas) SELECT id, ${listener}::uuid, ${until}, deltas
    FROM unnest(${runIds}::uuid[], ${watches.map(({ deltas }) => deltas)}::boolean[]) AS asked (id, deltas)
    ORDER BY id
    ON CONFLICT (run_id, listener) DO UPDATE SET until = excluded.until, deltas = excluded.deltas`.execute(db);
}

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

export interface RunState {
  runId: string;
  status: StoredRunStatus;
  version: number;
  /** The version is that of `toStateTag`. */
  stateTag: string;
}

/** Returns the states of these runs without their contents. Leaves out unknown runs. */
export async function readRunStates(db: Db, runIds: string[]): Promise<RunState[]> {
  const { rows } = await sql<VersionRow & { runId: string; status: StoredRunStatus }>`
    SELECT run.id AS "runId", run.status, ${versionColumns}
    FROM runs AS run ${versionJoin} WHERE run.id = ANY (${runIds}::uuid[])`.execute(db);
  return rows.map(({ runId, status, version, overdue }) => {
    return { runId, status, version, stateTag: toStateTag(version, status, overdue) };
  });
}

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
 * Returns the role of each user in the run's project. It is null if the user is not an active member, the run's
 * results have expired, the key no longer reaches the project, or the session has ended.
 */
export async function findRoles(db: Db, viewers: Viewer[]): Promise<(Role | null)[]> {
  const { rows } = await sql<{ role: Role | null }>`
    SELECT CASE WHEN asked.session_id IS NULL OR ${isLiveSession} THEN (
      SELECT member.role FROM runs AS run JOIN projects AS project ON project.id = run.project_id AND project.deleted_at IS NULL
      JOIN project_members AS member ON member.project_id = project.id AND member.user_id = asked.user_id
      JOIN users AS reader ON reader.id = member.user_id AND reader.is_active
      WHERE run.id = asked.run_id AND run.results_expired_at IS NULL AND (asked.key_id IS NULL OR ${isGoodKey})
    ) END AS role
    FROM unnest(${viewers.map(({ runId }) => runId)}::uuid[], ${viewers.map(({ userId }) => userId)}::integer[],
      ${viewers.map(({ keyId }) => keyId ?? null)}::integer[], ${viewers.map(({ sessionId }) => sessionId ?? null)}::uuid[])
      WITH ORDINALITY AS asked (run_id, user_id, key_id, session_id, ordinal) ORDER BY ordinal`.execute(db);
  return rows.map(({ role }) => role);
}

/** Must check the same as the admission of a key (`countedKey`, `isInReach`). */
const isGoodKey = sql`EXISTS (
  SELECT FROM api_keys AS key JOIN users ON users.id = key.user_id AND users.api_access
  WHERE key.id = asked.key_id AND key.user_id = asked.user_id AND (key.expires_at IS NULL OR key.expires_at > now())
    AND project.id = coalesce(key.project_id, project.id)
)`;

const isLiveSession = sql`EXISTS (
  SELECT FROM sessions WHERE sessions.id = asked.session_id AND sessions.user_id = asked.user_id AND ${isLive}
)`;
