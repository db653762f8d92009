// Claims and ends of several nodes or iterations in one statement (docs/adr/0032-nodes-written-together.md). A group
// never waits for the lock of a run: nodes whose run is locked or closed are written one by one, so that they keep
// nobody else waiting.
import { sql } from 'kysely';
import { isZeroDecimal } from '../../graph/decimal.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { insertIterations, pathsOf, recordIteration, type EndedIteration } from './iterations-repository.js';
import { notifyWatchers } from '../watches/notify-watchers.js';
import {
  claimNode,
  insertClaims,
  insertEnds,
  insertPayments,
  recordNodeEnd,
  type ClaimedWork,
  type NodeClaim,
  type NodeEndRow,
} from './node-results-repository.js';

export interface AskedClaim {
  key: NodeKey;
  work: ClaimedWork;
}

type Awaitable<T> = T | Promise<T>;

/** `claimNode` for several nodes. Fails if a node is among them twice. */
export async function claimNodes(db: Db, asked: AskedClaim[]): Promise<Awaitable<NodeClaim | undefined>[]> {
  const claimed = await claimUnlocked(db, asked);
  return asked.map(({ key, work }) => claimed.get(textOf(key)) ?? claimNode(db, key, work));
}

async function claimUnlocked(db: Db, asked: AskedClaim[]): Promise<Map<string, NodeClaim>> {
  const { rows } = await sql<NodeClaim & NodeKey>`
    ${insertClaims(sql`
      SELECT runs.id, asked.path, asked.node_id, 'in progress', asked.step, asked.queued_ms, asked.worker
      FROM unnest(${asked.map(({ key }) => key.runId)}::uuid[], ${asked.map(({ key }) => key.path)}::text[],
        ${asked.map(({ key }) => key.nodeId)}::text[], ${asked.map(({ work }) => work.step ?? null)}::text[],
        ${asked.map(({ work }) => work.queuedMs ?? null)}::integer[], ${asked.map(({ work }) => work.worker ?? null)}::uuid[]
      ) AS asked (run_id, path, node_id, step, queued_ms, worker)
      JOIN runs ON runs.id = asked.run_id AND runs.status = 'In Progress'
      ORDER BY 1, 2, 3
      FOR KEY SHARE OF runs SKIP LOCKED`)},
      ${keyColumns}, ${notifyWatchers(sql`node.run_id`)}`.execute(db);
  return new Map(rows.map((row) => [textOf(row), row]));
}

/** The size of a result that delays the others of its group only a little. */
const SMALL_RESULT_CHARACTERS = 16 * 1024;

/**
 * Returns true if `recordNodeEnds` takes this end. Payments change the sums of their run and then of their project, so
 * a group that pays for several runs could deadlock with others.
 */
export function isGroupable({ kind, result, resultEnc, amountUsd }: NodeEndRow): boolean {
  return isSmall(result, resultEnc) && kind !== 'output' && isZeroDecimal(amountUsd);
}

function isSmall(result: string | null, resultEnc: Buffer | null): boolean {
  return resultEnc === null && (result?.length ?? 0) <= SMALL_RESULT_CHARACTERS;
}

/** `recordNodeEnd` for several groupable ends. Fails if a node is among them twice. */
export async function recordNodeEnds(db: Db, ends: NodeEndRow[]): Promise<Awaitable<boolean>[]> {
  const settled = await endUnlocked(db, ends);
  return ends.map((end) => settled.has(textOf(end)) || recordNodeEnd(db, end));
}

async function endUnlocked(db: Db, ends: NodeEndRow[]): Promise<Set<string>> {
  const { rows } = await sql<NodeKey>`
    WITH ended AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(ends)}::json) AS ended ("runId" uuid, path text, "nodeId" text,
        kind text, label text, "projectId" integer, "userId" integer, status text, "tookMs" double precision,
        handle integer, "alsoHandles" integer[], result text, "errorCode" text, "errorMessage" text,
        "isHandled" boolean, "amountUsd" numeric, "priceVersion" text, "isEstimated" boolean, reason text)
    ), open_run AS MATERIALIZED (
      SELECT id FROM runs WHERE id = ANY (${ends.map(({ runId }) => runId)}::uuid[]) AND status = 'In Progress'
      FOR KEY SHARE SKIP LOCKED
    ), settled AS (
      ${insertEnds(sql`
        SELECT id, path, "nodeId", status, handle, "alsoHandles", result::json, octet_length(result), NULL, "errorCode",
          "errorMessage", "isHandled", clock_timestamp() - make_interval(secs => "tookMs" / 1000), clock_timestamp()
        FROM ended JOIN open_run ON id = "runId"
        ORDER BY 1, 2, 3`)}
    ), closed AS (
      UPDATE provider_calls AS call SET state = 'applied', replied_at = clock_timestamp()
      FROM ended JOIN open_run ON id = "runId"
      WHERE call.run_id = "runId" AND call.path = ended.path AND call.node_id = "nodeId" AND turn = 0 AND ordinal = 0
        AND state = 'sent' AND model IS NULL
    ), paid AS (
      ${insertPayments(sql`
        SELECT id, path, "nodeId", "projectId", "userId", kind,
          CASE status WHEN 'succeed' THEN 'Succeeded' ELSE 'Error' END, "amountUsd", "isEstimated", "priceVersion",
          reason, label
        FROM ended JOIN open_run ON id = "runId"
        ORDER BY 1, 2, 3`)}
    )
    SELECT ${keyColumns}, ${notifyWatchers(sql`node.run_id`)} FROM settled AS node`.execute(db);
  return new Set(rows.map(textOf));
}

/** Returns true if `recordIterations` takes this end. */
export function isGroupableIteration({ result, resultEnc }: EndedIteration): boolean {
  return isSmall(result, resultEnc);
}

/** `recordIteration` for several groupable ends. Fails if an iteration is among them twice. */
export async function recordIterations(db: Db, ends: EndedIteration[]): Promise<Awaitable<string | undefined>[]> {
  const rows = ends.map((end) => ({ ...end.loop, ...pathsOf(end), result: end.result }));
  const ended = await endUnlockedIterations(db, rows);
  return ends.map((end, at) => {
    return ended.has(textOf({ ...end.loop, path: rows[at]!.own })) ? undefined : recordIteration(db, end);
  });
}

async function endUnlockedIterations(
  db: Db,
  rows: { runId: string; nodeId: string; own: string; next: string | null; result: string }[],
): Promise<Set<string>> {
  const { rows: ended } = await sql<NodeKey>`
    WITH given AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS given ("runId" uuid, "nodeId" text, own text,
        next text, result text)
    ), open_run AS MATERIALIZED (
      SELECT id FROM runs WHERE id = ANY (${rows.map(({ runId }) => runId)}::uuid[]) AND status = 'In Progress'
      FOR KEY SHARE SKIP LOCKED
    ), ended AS (
      ${insertIterations(sql`
        SELECT id, own, "nodeId", 'succeed', true, result::json, octet_length(result), NULL::bytea, clock_timestamp()
        FROM given JOIN open_run ON id = "runId"
        ORDER BY 1, 2, 3`)}
    ), started AS (
      INSERT INTO node_results (run_id, path, node_id, status, is_iteration)
      SELECT id, next, "nodeId", 'in progress', true FROM given JOIN open_run ON id = "runId" WHERE next IS NOT NULL
      ORDER BY 1, 2, 3
      ON CONFLICT DO NOTHING
    )
    SELECT ${keyColumns}, ${notifyWatchers(sql`node.run_id`)} FROM ended AS node`.execute(db);
  return new Set(ended.map(textOf));
}

const keyColumns = sql`node.run_id AS "runId", node.path, node.node_id AS "nodeId"`;

function textOf({ runId, path, nodeId }: NodeKey): string {
  return `${runId}/${path}/${nodeId}`;
}
