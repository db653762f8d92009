import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { Plan } from '../../graph/plan.js';

/**
 * Everything that a worker needs to know about a run before executing a node. None of it changes while the run lasts,
 * except that a queued run of a conversation gets its drawing, input and secrets when it leaves the queue
 * (`startQueuedRun`), that the run starts (`isStarted`), and that other runs and people may pass more secrets.
 */
export interface StoredRunContext {
  runId: string;
  projectId: number;
  userId: number;
  snapshotHash: Buffer;
  /** JSON text, masked. */
  input: string;
  inputEnc: Buffer | null;
  secretsEnc: Buffer | null;
  /** Secrets that other runs (passed-secrets.ts) and people have passed, sealed. */
  passedSecretsEnc: Buffer | null;
  /** The number of ancestor runs: 0 unless another run has started this one. */
  depth: number;
  /** The topmost ancestor run; the run's own id if it has no parent. */
  rootRunId: string;
  /** True if the run may reuse results: it resumes an earlier run, or is a test. */
  isResumed: boolean;
  isStarted: boolean;
  isTest: boolean;
  isAssistant: boolean;
  traceparent: string | null;
}

export async function findRunContext(db: Db, runId: string): Promise<StoredRunContext | undefined> {
  const { rows } = await sql<StoredRunContext>`
    SELECT id AS "runId", project_id AS "projectId", user_id AS "userId", snapshot_hash AS "snapshotHash", input::text AS input,
      input_enc AS "inputEnc", secrets_enc AS "secretsEnc", passed_secrets_enc AS "passedSecretsEnc",
      depth, coalesce(root_run_id, id) AS "rootRunId",
      resumed_from IS NOT NULL OR purpose = 'test' AS "isResumed", purpose = 'test' AS "isTest",
      purpose = 'assistant' AS "isAssistant", run_started_at IS NOT NULL AS "isStarted", traceparent
    FROM runs WHERE id = ${runId}`.execute(db);
  return rows[0];
}

export interface StoredSnapshot {
  document: Record<string, unknown>;
  plan: Plan;
  sizeBytes: number;
}

export async function findSnapshot(db: Db, hash: Buffer): Promise<StoredSnapshot> {
  const row = await db
    .selectFrom('graph_snapshots')
    .select(['document', 'plan', sql<number>`octet_length(document::text)`.as('size')])
    .where('hash', '=', hash)
    .executeTakeFirstOrThrow();
  return { document: row.document, plan: row.plan as Plan, sizeBytes: row.size };
}

/** Returns true if the drawing of the run has the node and the run can reach it. */
export async function hasNode(db: Db, runId: string, nodeId: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM runs JOIN graph_snapshots AS graph ON graph.hash = runs.snapshot_hash
    WHERE runs.id = ${runId} AND (graph.plan -> 'ids')::jsonb ? ${nodeId}`.execute(db);
  return rows.length > 0;
}

interface StoredPlan {
  plan: Plan;
  /** The `settings` of the drawing, not validated. */
  settings: unknown;
  /** The pool of the project; null is the default pool. */
  pool: string | null;
}

/** Returns undefined if the run is not open. */
export async function findPlanOfRun(db: Db, runId: string): Promise<StoredPlan | undefined> {
  const { rows } = await sql<StoredPlan>`
    SELECT graph.plan, graph.document -> 'settings' AS settings, project.pool
    FROM runs AS run JOIN graph_snapshots AS graph ON graph.hash = run.snapshot_hash
      JOIN projects AS project ON project.id = run.project_id
    WHERE run.id = ${runId} AND run.status = 'In Progress'`.execute(db);
  return rows[0];
}

/**
 * Returns two sizes in bytes: that of a run's input (the masked text plus the sealed whole input, if there is one), and
 * that of its drawing as JSON text. Returns undefined if the run is unknown.
 */
export async function measureRunContext(
  db: Db,
  runId: string,
): Promise<{ inputBytes: number; documentBytes: number } | undefined> {
  const { rows } = await sql<{ inputBytes: number; documentBytes: number }>`
    SELECT octet_length(input::text) + coalesce(octet_length(input_enc), 0) AS "inputBytes",
      octet_length(graph.document::text) AS "documentBytes"
    FROM runs JOIN graph_snapshots graph ON graph.hash = runs.snapshot_hash WHERE runs.id = ${runId}`.execute(db);
  return rows[0];
}
