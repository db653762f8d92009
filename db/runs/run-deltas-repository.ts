// Deltas are the pieces of text and the tool calls that a model writes during a call. They are stored as rows for API
// processes that start reading later, and sent as notifications to those that listen.
import { sql } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { isModelCall } from '../nodes/provider-calls-repository.js';

export const DELTAS_CHANNEL = 'run_deltas';

export interface ReportedToolCall {
  id: string;
  name: string;
  /** JSON text. */
  arguments: string;
}

/** The text and the tool calls that a row adds to its step, a model call of the node. Secrets are masked. */
export interface DeltaBody {
  text?: string;
  toolCalls?: ReportedToolCall[];
  /** Set if the model had started to write before anybody read. */
  isLate?: true;
  /** Set if the step has no more deltas. */
  isLast?: true;
}

export interface DeltaKey extends NodeKey {
  attempt: number;
  step: number;
  number: number;
}

export interface RunDelta extends DeltaKey {
  body: DeltaBody;
}

/** PostgreSQL accepts notifications of less than 8,000 bytes. */
const MAX_MESSAGE_BYTES = 7_900;

/**
 * Stores the deltas of those of `runIds` whose deltas somebody reads, notifies the API processes, and returns these
 * ids. Skips deltas of an attempt that is not the node's latest, and of nodes that have ended. Safe to repeat with the
 * same rows.
 */
export async function writeDeltas(db: Db, runIds: string[], deltas: RunDelta[]): Promise<Set<string>> {
  const bodies = deltas.map(({ body }) => JSON.stringify(body));
  const messages = deltas.map((delta, at) => toMessage(delta, bodies[at]!));
  const { rows } = await sql<{ runId: string }>`
    WITH watched AS MATERIALIZED (
      SELECT DISTINCT run_id FROM run_watches WHERE run_id = ANY (${runIds}::uuid[]) AND deltas AND until > now()
    ), written AS MATERIALIZED (
      SELECT delta.* FROM unnest(${deltas.map(({ runId }) => runId)}::uuid[], ${deltas.map(({ path }) => path)}::text[],
        ${deltas.map(({ nodeId }) => nodeId)}::text[], ${deltas.map(({ attempt }) => attempt)}::integer[],
        ${deltas.map(({ step }) => step)}::integer[], ${deltas.map(({ number }) => number)}::integer[],
        ${bodies}::text[], ${messages}::text[])
        AS delta (run_id, path, node_id, attempt, step, number, body, message)
      JOIN watched ON watched.run_id = delta.run_id
      JOIN node_results AS node ON node.run_id = delta.run_id AND node.path = delta.path AND node.node_id = delta.node_id
        AND node.status = 'in progress' AND node.attempts = delta.attempt
    ), stored AS (
      INSERT INTO run_deltas (run_id, path, node_id, attempt, step, number, body)
      SELECT run_id, path, node_id, attempt, step, number, body FROM written
      ON CONFLICT DO NOTHING
    ), notified AS MATERIALIZED (
      SELECT pg_notify(${sql.lit(DELTAS_CHANNEL)}, message) FROM written
    )
    SELECT run_id AS "runId", (SELECT count(*) FROM notified) AS notified FROM watched`.execute(db);
  return new Set(rows.map(({ runId }) => runId));
}

function toMessage({ runId, path, nodeId, attempt, step, number }: DeltaKey, body: string): string {
  const place = JSON.stringify([path, nodeId, attempt, step, number]);
  const message = `${runId} ${place.slice(0, -1)},${body}]`;
  return Buffer.byteLength(message) <= MAX_MESSAGE_BYTES ? message : runId;
}

/** Returns the id of the run. Only processes with readers of that run parse the rest. */
export function runOfMessage(message: string): string {
  return message.slice(0, 36);
}

/** Returns undefined if the content was too large for the message: then the reader reads the rows. */
export function readDeltaMessage(message: string): RunDelta | undefined {
  const runId = runOfMessage(message);
  if (message === runId) return undefined;
  const fields = JSON.parse(message.slice(runId.length)) as [string, string, number, number, number, DeltaBody];
  const [path, nodeId, attempt, step, number, body] = fields;
  return { runId, path, nodeId, attempt, step, number, body };
}

/**
 * Returns the rows of the latest attempts of the runs' nodes that come after the `known` ones, in order. For a node
 * that is not in `known`, returns its last step. Leaves out nodes that have ended, whose rows may not be deleted yet.
 */
export async function readDeltas(db: Db, runIds: string[], known: DeltaKey[]): Promise<RunDelta[]> {
  const { rows } = await sql<DeltaKey & { body: string }>`
    WITH known AS (
      SELECT * FROM unnest(${known.map(({ runId }) => runId)}::uuid[], ${known.map(({ path }) => path)}::text[],
        ${known.map(({ nodeId }) => nodeId)}::text[], ${known.map(({ attempt }) => attempt)}::integer[],
        ${known.map(({ step }) => step)}::integer[], ${known.map(({ number }) => number)}::integer[])
        AS known (run_id, path, node_id, attempt, step, number)
    )
    SELECT delta.run_id AS "runId", delta.path, delta.node_id AS "nodeId", delta.attempt, delta.step, delta.number, delta.body
    FROM run_deltas AS delta
    JOIN node_results AS node ON node.run_id = delta.run_id AND node.path = delta.path AND node.node_id = delta.node_id
      AND node.attempts = delta.attempt AND node.status = 'in progress'
    LEFT JOIN known ON known.run_id = delta.run_id AND known.path = delta.path AND known.node_id = delta.node_id
    WHERE delta.run_id = ANY (${runIds}::uuid[]) AND CASE WHEN known.node_id IS NOT NULL
      THEN (known.attempt, known.step, known.number) < (delta.attempt, delta.step, delta.number)
      ELSE delta.step = (
        SELECT max(step) FROM run_deltas AS last
        WHERE last.run_id = delta.run_id AND last.path = delta.path AND last.node_id = delta.node_id
          AND last.attempt = delta.attempt) END
    ORDER BY delta.run_id, delta.path, delta.node_id, delta.attempt, delta.step, delta.number`.execute(db);
  return rows.map(({ body, ...key }) => ({ ...key, body: JSON.parse(body) as DeltaBody }));
}

/** The answer of an ended node that calls models. */
export interface StoredAnswer {
  attempt: number;
  step: number;
  /** Secrets masked. */
  content: string;
}

/**
 * Returns undefined if the node has not succeeded or has made no model call in this run, or if its result is not text
 * or has expired.
 */
export async function readAnswer(db: Db, { runId, path, nodeId }: NodeKey): Promise<StoredAnswer | undefined> {
  const { rows } = await sql<{ attempt: number; step: number | null; content: string | null }>`
    SELECT node.attempts AS attempt, last.step,
      CASE WHEN json_typeof(node.result -> 'content') = 'string' THEN (node.result -> 'content')::text END AS content
    FROM node_results AS node
    CROSS JOIN LATERAL (
      SELECT max(turn) AS step FROM provider_calls
      WHERE run_id = node.run_id AND path = node.path AND node_id = node.node_id AND ${isModelCall}
    ) AS last
    WHERE node.run_id = ${runId}::uuid AND node.path = ${path} AND node.node_id = ${nodeId} AND node.status = 'succeed'
      AND node.result IS NOT NULL`.execute(db);
  const [found] = rows;
  if (found === undefined || found.step === null || found.content === null) return undefined;
  return { attempt: found.attempt, step: found.step, content: JSON.parse(found.content) as string };
}
