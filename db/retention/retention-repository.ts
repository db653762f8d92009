// Retention: deletes expired contents in statements with a bounded number of rows. Each statement is idempotent: if
// the process dies or a limit is reached, the next one continues (docs/operate/operations.md, "Retention").
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Db } from '../core/client.js';
import type { Value } from '../core/statement.js';
import type { Tables } from '../core/tables.js';
import { isModelCall } from '../nodes/provider-calls-repository.js';

type Expired = Partial<Record<keyof Tables, number>>;

export interface Batch {
  expired: Expired;
  /** True if a limit was reached, so that more rows may be left. */
  hasMore: boolean;
}

/**
 * Runs that are shown on the marketplace, and a workflow's API run, keep their results. An index has
 * the same condition.
 */
const UNPINNED = sql`NOT is_api_run AND NOT use_in_marketplace_example AND NOT use_as_marketplace_template`;

/** Computes in hours, because a day in a time zone may have 23 or 25. */
function isOld(retentionDays: Value<number>): RawBuilder<unknown> {
  return sql`run_finished_at < now() - make_interval(hours => 24 * ${retentionDays}::integer)`;
}

function isDue(retentionDays: Value<number>): RawBuilder<unknown> {
  return sql`${isOld(retentionDays)} AND results_expired_at IS NULL AND ${UNPINNED}`;
}

/** True if the results of a run have expired, even if retention has not deleted them yet. Never null. */
export function isExpired(retentionDays: Value<number>): RawBuilder<boolean> {
  return sql`(results_expired_at IS NOT NULL OR coalesce(${isDue(retentionDays)}, false))`;
}

/** When the results of a run expired (`isExpired`); null if they have not. */
export function expiredAt(retentionDays: Value<number>): RawBuilder<Date | null> {
  return sql`coalesce(results_expired_at, CASE WHEN ${isDue(retentionDays)}
    THEN run_finished_at + make_interval(hours => 24 * ${retentionDays}::integer) END)`;
}

/** True if the drawing of a run is on the marketplace: each copy is masked by the secrets of a run of this drawing. */
const isOfPublishedDrawing = sql`(runs.snapshot_hash IS NOT DISTINCT FROM (
  SELECT published_snapshot FROM workflows WHERE id = runs.workflow_id AND is_published))`;

/**
 * Marks the results of due runs as expired, and deletes sealed inputs, secrets and the errors of `Draft` runs. Secrets
 * of a published drawing are left for `purgeRuns`, and so are the other contents. A flag of `UNPINNED` that is set
 * concurrently does not bring the results back: `setRunFlag` locks the same row, and refuses if they have expired.
 * History goes on showing the run, its masked input, drawing, cost and error.
 */
export async function expireRuns(db: Db, retentionDays: number, limit: number): Promise<Batch> {
  const { numAffectedRows } = await sql`
    UPDATE runs SET results_expired_at = now(), is_purge_pending = true, is_input_lost = input_enc IS NOT NULL,
      input_enc = NULL, secrets_enc = CASE WHEN ${isOfPublishedDrawing} THEN secrets_enc END,
      passed_secrets_enc = NULL, node_errors = NULL
    WHERE id IN (
      SELECT id FROM runs WHERE ${isDue(retentionDays)}
      ORDER BY run_finished_at LIMIT ${limit}::integer FOR NO KEY UPDATE SKIP LOCKED
    )`.execute(db);
  return toBatch({ runs: Number(numAffectedRows ?? 0) }, limit);
}

/** Returns the number of due runs, counted up to `max`. */
export async function countExpirableRuns(db: Db, retentionDays: number, max: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (SELECT FROM runs WHERE ${isDue(retentionDays)} LIMIT ${max}::integer) AS waiting`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

const RUNS_AT_ONCE = 50;
/** The tables from which rows of expired runs are deleted, in this order. */
const EXPIRING = [
  'agent_tool_calls',
  'agent_turns',
  'agent_sessions',
  'connection_uses',
  'fixed_results',
  'loop_items',
  'node_attempts',
  'run_events',
  'run_outputs',
  'announced_iterations',
  'tool_tasks',
  'waits',
] as const;

/**
 * Deletes contents of expired runs, up to `limit` rows of each table. The runs are done once a call has found fewer
 * rows than `limit` in each table. Nodes retain their status and error code; approvals and human tasks retain their
 * decisions. The newest run of a published drawing retains its secrets.
 */
export async function purgeRuns(trx: Transaction<Tables>, limit: number): Promise<Batch> {
  const { rows } = await sql<{ id: string; hasSecrets: boolean }>`
    SELECT id, secrets_enc IS NOT NULL AS "hasSecrets" FROM runs WHERE is_purge_pending ORDER BY results_expired_at
    LIMIT ${Math.min(limit, RUNS_AT_ONCE)}::integer FOR NO KEY UPDATE SKIP LOCKED`.execute(trx);
  if (rows.length === 0) return toBatch({}, limit);
  const runs = sql`run_id = ANY (${rows.map(({ id }) => id)}::uuid[])`;
  const expired: Expired = {};
  expired.node_results = await emptyNodes(trx, runs, limit);
  // Delete tool calls before the approvals that they refer to.
  for (const table of EXPIRING) {
    expired[table] = await deleteRows(trx, table, runs, limit);
  }
  expired.file_references = await deleteReferences(trx, rows, limit);
  expired.provider_calls = await emptyCalls(trx, runs, limit);
  const undecided = sql`${runs} AND status IN ('pending', 'expired')`;
  // A tool call beyond the limit may still refer to its approval; then the approval is left for the next call.
  const unused = sql`NOT EXISTS (SELECT FROM agent_tool_calls call WHERE call.request_id = approval_requests.request_id)`;
  const deleted = await deleteRows(trx, 'approval_requests', sql`${undecided} AND ${unused}`, limit);
  expired.approval_requests = deleted + (await emptyRequests(trx, runs, limit));
  expired.approval_decisions = await emptyDecisions(trx, runs, limit);
  const unanswered = await deleteRows(trx, 'human_tasks', sql`${runs} AND status <> 'answered'`, limit);
  expired.human_tasks = unanswered + (await emptyTasks(trx, runs, limit));
  await deleteSecrets(
    trx,
    rows.filter(({ hasSecrets }) => hasSecrets),
  );
  const batch = toBatch(expired, limit);
  if (!batch.hasMore) await sql`UPDATE runs SET is_purge_pending = false WHERE ${idsOf(rows)}`.execute(trx);
  return { expired, hasMore: batch.hasMore || rows.length === Math.min(limit, RUNS_AT_ONCE) };
}

/** Keeps the secrets by which copies of a published drawing are masked: those of the newest run that has any. */
async function deleteSecrets(db: Db, runs: { id: string }[]): Promise<void> {
  if (runs.length === 0) return;
  const hasNewer = sql`EXISTS (
    SELECT FROM runs AS newer
    WHERE newer.workflow_id = runs.workflow_id AND newer.purpose = runs.purpose
      AND newer.snapshot_hash = runs.snapshot_hash AND newer.secrets_enc IS NOT NULL
      AND (newer.created_at, newer.id) > (runs.created_at, runs.id))`;
  await sql`
    UPDATE runs SET secrets_enc = NULL WHERE ${idsOf(runs)} AND (${hasNewer} OR NOT ${isOfPublishedDrawing})`.execute(
    db,
  );
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Deletes the secrets that `purgeRuns` has kept and that are no longer needed, because there is a newer run or the
 * drawing is no longer published. Looks at the next `limit` runs after `afterId`, because no index finds such runs.
 * Returns the start of the next call; null at the end of the table.
 */
export async function deleteLeftSecrets(
  trx: Transaction<Tables>,
  afterId: string | null,
  limit: number,
): Promise<string | null> {
  const looked = await trx
    .selectFrom('runs')
    .select(['id', sql<boolean>`results_expired_at IS NOT NULL AND secrets_enc IS NOT NULL`.as('hasLeft')])
    .where('id', '>', afterId ?? FIRST_ID)
    .orderBy('id')
    .limit(limit)
    .execute();
  await deleteSecrets(
    trx,
    looked.filter(({ hasLeft }) => hasLeft),
  );
  return looked.length < limit ? null : (looked.at(-1)?.id ?? null);
}

function deleteReferences(db: Db, runs: { id: string }[], limit: number): Promise<number> {
  const holders = sql`kind = 'run' AND holder = ANY (${runs.map(({ id }) => id)}::text[])`;
  return deleteRows(db, 'file_references', holders, limit);
}

function idsOf(rows: { id: string }[]): RawBuilder<unknown> {
  return sql`id = ANY (${rows.map(({ id }) => id)}::uuid[])`;
}

async function emptyNodes(db: Db, runs: RawBuilder<unknown>, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE node_results SET result = NULL, result_enc = NULL, error_message = NULL
    WHERE (run_id, path, node_id) IN (
      SELECT run_id, path, node_id FROM node_results
      WHERE ${runs} AND (result IS NOT NULL OR result_enc IS NOT NULL OR error_message IS NOT NULL)
      LIMIT ${limit}::integer
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Deletes calls of tools and HTTP requests. Keeps model, tokens and cost of model calls for the project's books. */
async function emptyCalls(db: Db, runs: RawBuilder<unknown>, limit: number): Promise<number> {
  const deleted = await deleteRows(db, 'provider_calls', sql`${runs} AND NOT ${isModelCall}`, limit);
  const { numAffectedRows } = await sql`
    UPDATE provider_calls SET usage = NULL
    WHERE (run_id, path, node_id, turn, ordinal) IN (
      SELECT run_id, path, node_id, turn, ordinal FROM provider_calls
      WHERE ${runs} AND usage IS NOT NULL LIMIT ${limit - deleted}::integer
    )`.execute(db);
  return deleted + Number(numAffectedRows ?? 0);
}

/** Keeps who has decided what, and the hash of the arguments. */
async function emptyDecisions(db: Db, runs: RawBuilder<unknown>, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE approval_decisions SET reason = ''
    WHERE (request_id, user_id, arguments_hash, decision) IN (
      SELECT made.request_id, made.user_id, made.arguments_hash, made.decision
      FROM approval_requests JOIN approval_decisions made USING (request_id)
      WHERE ${runs} AND made.reason <> '' LIMIT ${limit}::integer
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

async function emptyRequests(db: Db, runs: RawBuilder<unknown>, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE approval_requests SET arguments = 'null', edited_arguments = NULL, edited_enc = NULL, reason = ''
    WHERE request_id IN (
      SELECT request_id FROM approval_requests
      WHERE ${runs} AND status IN ('approved', 'rejected')
        AND (arguments::text <> 'null' OR edited_enc IS NOT NULL OR reason <> '')
      LIMIT ${limit}::integer
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Empties a task together with its answers. */
async function emptyTasks(db: Db, runs: RawBuilder<unknown>, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    WITH emptied AS (
      UPDATE human_tasks SET message = '', fields = '[]', files = '[]'
      WHERE task_id IN (
        SELECT task_id FROM human_tasks WHERE ${runs} AND status = 'answered' AND (
          message <> '' OR fields::text <> '[]' OR files::text <> '[]' OR EXISTS (
            SELECT FROM human_answers AS answer WHERE answer.task_id = human_tasks.task_id
              AND (answer.comment <> '' OR answer.entered::text <> '{}' OR answer.entered_enc IS NOT NULL)))
        LIMIT ${limit}::integer
      )
      RETURNING task_id
    ), answers AS (
      UPDATE human_answers SET entered = '{}', entered_enc = NULL, comment = ''
      FROM emptied WHERE human_answers.task_id = emptied.task_id
    )
    SELECT FROM emptied`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Deletes runs of cases that ended before the retention time, with the results of the cases. */
export async function deleteOldCaseRuns(db: Db, retentionDays: number, limit: number): Promise<Batch> {
  const isOldRun = sql`finished_at < now() - make_interval(hours => 24 * ${retentionDays}::integer)`;
  const ofOld = sql`case_run_id IN (SELECT id FROM case_runs WHERE ${isOldRun})`;
  const results = await deleteRows(db, 'case_results', ofOld, limit);
  const empty = sql`${isOldRun} AND NOT EXISTS (SELECT FROM case_results WHERE case_run_id = case_runs.id)`;
  return toBatch({ case_results: results, case_runs: await deleteRows(db, 'case_runs', empty, limit) }, limit);
}

/** Keys expire after 24 hours. */
export async function deleteIdempotencyKeys(db: Db, limit: number): Promise<Batch> {
  const old = sql`created_at <= now() - interval '24 hours'`;
  return toBatch({ idempotency_keys: await deleteRows(db, 'idempotency_keys', old, limit) }, limit);
}

/** Deletes settled events only; pending ones stay, however old. */
export async function deleteSettledDeliveries(db: Db, retentionDays: number, limit: number): Promise<Batch> {
  const settled = sql`status <> 'pending' AND created_at < now() - make_interval(hours => 24 * ${retentionDays}::integer)`;
  return toBatch({ webhook_deliveries: await deleteRows(db, 'webhook_deliveries', settled, limit) }, limit);
}

/** Deletes stops of spending limits that are older than 30 days, because only the last 30 days are shown. */
export async function deleteOldStops(db: Db, limit: number): Promise<Batch> {
  const old = sql`day <= period_start('day', clock_timestamp()) - 30`;
  return toBatch({ spending_stops: await deleteRows(db, 'spending_stops', old, limit) }, limit);
}

/**
 * Deletes ended windows, which are useless. Nothing else deletes those of deleted keys, or the window that a delivery
 * stores after its hook was deleted.
 */
export async function deleteEndedWindows(db: Db, limit: number): Promise<Batch> {
  const isOver = sql`window_ends_at <= now()`;
  const expired = {
    rate_limits: await deleteRows(db, 'rate_limits', isOver, limit),
    session_rate_limits: await deleteRows(db, 'session_rate_limits', isOver, limit),
    hook_windows: await deleteRows(db, 'hook_windows', sql`ends_at <= now()`, limit),
  };
  return toBatch(expired, limit);
}

/**
 * Deletes by `ctid`, which every table has. `where` is repeated outside the subquery: if a row is changed concurrently,
 * PostgreSQL evaluates the outer conditions again on its new version, but minor releases before November 2025 do not
 * evaluate `ctid` again.
 */
async function deleteRows(db: Db, table: keyof Tables, where: RawBuilder<unknown>, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(table)} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${sql.table(table)} WHERE ${where} LIMIT ${limit}::integer
    )) AND ${where}`.execute(db);
  return Number(numAffectedRows ?? 0);
}

function toBatch(expired: Expired, limit: number): Batch {
  return { expired, hasMore: Object.values(expired).some((count) => count >= limit) };
}

/**
 * Deletes, at the start of each chain, the audit records that are older than 400 days; a database function checks the
 * age (docs/operate/audit.md).
 */
export async function expireAuditRecords(db: Db, limit: number): Promise<Batch> {
  const { rows } = await sql<{ expired: number }>`SELECT expire_audit_records(${limit}) AS expired`.execute(db);
  const expired = rows[0]?.expired ?? 0;
  return { expired: { audit_records: expired }, hasMore: expired >= limit };
}

// Drawings of archived workflows and deleted projects: nobody can read them any more, and runs have their own graphs.

const isGone = sql`(archived_at IS NOT NULL
  OR project_id IN (SELECT id FROM projects WHERE deleted_at IS NOT NULL))`;

/**
 * Deletes versions, refused tools, pins and cases of gone workflows (`isGone`), and empties the workflows themselves,
 * whose rows stay because runs refer to them. Also deletes the refused tools of earlier versions of other workflows.
 */
export async function deleteGoneDrawings(db: Db, limit: number): Promise<Batch> {
  const ofGone = sql`workflow_id IN (SELECT id FROM workflows WHERE ${isGone})`;
  const versions = await deleteRows(db, 'workflow_versions', ofGone, limit);
  const unread = sql`(${ofGone} OR version <> (SELECT version FROM workflows WHERE id = workflow_id))`;
  const refusedTools = await deleteRows(db, 'refused_tools', unread, limit);
  const pins = await deleteRows(db, 'pins', ofGone, limit);
  const cases = await deleteRows(db, 'cases', ofGone, limit);
  const { numAffectedRows } = await sql`
    UPDATE workflows SET document = '{}', secrets_enc = NULL, readme_guide = '', tool_fields = NULL
    WHERE id IN (
      SELECT id FROM workflows
      WHERE ${isGone} AND (secrets_enc IS NOT NULL OR readme_guide <> '' OR document::text <> '{}')
      LIMIT ${limit}::integer
    )`.execute(db);
  return toBatch(
    { workflow_versions: versions, refused_tools: refusedTools, pins, cases, workflows: Number(numAffectedRows ?? 0) },
    limit,
  );
}

const DRAFT_DAYS = 30;

const oldestDraft = sql`now() - make_interval(hours => 24 * ${DRAFT_DAYS}::integer)`;

/** True for a draft that counts as gone. */
export const isOldDraft = sql<boolean>`updated_at < ${oldestDraft}`;

/** The same for a draft before an answer of the assistant in the editor. */
export const isOldBaseline = sql<boolean>`created_at < ${oldestDraft}`;

/** Also deletes drafts that were stored while their project was being deleted. */
export async function deleteOldDrafts(db: Db, limit: number): Promise<Batch> {
  const ofGone = sql`workflow_id IN (SELECT id FROM workflows WHERE ${isGone})`;
  const old = await deleteRows(db, 'workflow_drafts', isOldDraft, limit);
  const left = await deleteRows(db, 'workflow_drafts', ofGone, limit);
  const oldBaselines = await deleteRows(db, 'answer_baselines', isOldBaseline, limit);
  const leftBaselines = await deleteRows(db, 'answer_baselines', ofGone, limit);
  return {
    expired: { workflow_drafts: old + left, answer_baselines: oldBaselines + leftBaselines },
    hasMore: Math.max(old, left, oldBaselines, leftBaselines) >= limit,
  };
}

/** Deletes the conversations of gone workflows (`isGone`). A long conversation may need several calls. */
export async function deleteGoneConversations(db: Db, limit: number): Promise<Batch> {
  const ofGone = sql`workflow_id IN (SELECT id FROM workflows WHERE ${isGone})`;
  const inGone = sql`conversation_id IN (SELECT id FROM conversations WHERE ${ofGone})`;
  const messages = await deleteRows(db, 'conversation_messages', inGone, limit);
  const empty = sql`${ofGone} AND NOT EXISTS (SELECT FROM conversation_messages WHERE conversation_id = conversations.id)`;
  const conversations = await deleteRows(db, 'conversations', empty, limit);
  return toBatch({ conversation_messages: messages, conversations }, limit);
}

/**
 * Deletes deltas that arrived after the end of their node: from a worker that counted as dead, or after the run was
 * closed.
 */
export async function deleteLeftDeltas(db: Db, limit: number): Promise<Batch> {
  const isLeft = sql`created_at < now() - interval '1 minute' AND NOT EXISTS (
    SELECT FROM node_results AS node WHERE node.run_id = run_deltas.run_id AND node.path = run_deltas.path
      AND node.node_id = run_deltas.node_id AND node.status = 'in progress')`;
  return toBatch({ run_deltas: await deleteRows(db, 'run_deltas', isLeft, limit) }, limit);
}

/** A network counts as known for this long after the end of the last session that was used from it. */
const SESSION_DAYS = 30;

/**
 * Deletes sessions that ended 30 days ago, expired links, expired sign-ins of connections, and expired counts and waits
 * of failed logins.
 */
export async function deleteOldSignIns(db: Db, limit: number): Promise<Batch> {
  const over = sql`coalesce(ended_at, expires_at) < now() - make_interval(hours => 24 * ${SESSION_DAYS}::integer)`;
  const expired = {
    sessions: await deleteRows(db, 'sessions', over, limit),
    sign_in_links: await deleteRows(db, 'sign_in_links', sql`expires_at <= now()`, limit),
    connection_sign_ins: await deleteRows(db, 'connection_sign_ins', sql`expires_at <= now()`, limit),
    login_failures: await deleteRows(db, 'login_failures', sql`ends_at <= now()`, limit),
    login_waits: await deleteRows(db, 'login_waits', sql`ends_at <= now()`, limit),
  };
  return toBatch(expired, limit);
}
