// The steps of an agent for readers: its model calls, each with its tool calls.
import { sql } from 'kysely';
import { keyColumns } from '../nodes/key-columns.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Database, Db } from '../core/client.js';
import type { ApprovalStatus, NodeStatus, ToolOutcome } from '../core/tables.js';
import { isExpired } from '../retention/retention-repository.js';
import { numberOfCall } from './tool-call-number.js';

export interface StoredStep {
  turn: number;
  /** The state of the model call. `sent`: not answered yet. */
  state: 'sent' | 'applied' | 'refused';
  model: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** Plain decimal, includes attempts that were cut off; null if nothing was paid yet. */
  priceUsd: string | null;
  sentAt: Date;
  repliedAt: Date | null;
  isFinal: boolean;
  /** Sealed; null if nothing is stored or `isLeftOut`. */
  messageEnc: Buffer | null;
  /** True if the message is left out, because the messages of the page up to this one exceed `maxBytes`. */
  isLeftOut: boolean;
}

export interface StoredStepCall {
  turn: number;
  ordinal: number;
  serverLabel: string | null;
  toolName: string;
  /** Sealed, like the other contents; null if `isLeftOut`. */
  argumentsEnc: Buffer | null;
  editedEnc: Buffer | null;
  answerEnc: Buffer | null;
  isLeftOut: boolean;
  outcome: ToolOutcome | null;
  requestId: string | null;
  approval: ApprovalStatus | null;
  /** The run that the call has started; null if it has started none. */
  childRunId: string | null;
  /** Null if the call was not made. */
  sentAt: Date | null;
  finishedAt: Date | null;
}

export interface AgentSteps {
  /** Undefined if the run has not reached the node. */
  nodeStatus: NodeStatus | undefined;
  /** True if the contents have expired, even if they are not deleted yet. */
  isExpired: boolean;
  total: number;
  steps: StoredStep[];
  calls: StoredStepCall[];
}

interface StepsQuery {
  workflowId: number;
  limit: number;
  offset: number;
  retentionDays: number;
  /** The limit for the sealed contents of a page; the contents beyond it are left out. */
  maxBytes: number;
}

/**
 * Returns a page of the steps in ascending order, from one snapshot. Undefined if the workflow has no such run. Nodes
 * of other kinds have no steps.
 */
export function listAgentSteps(db: Database, node: NodeKey, query: StepsQuery): Promise<AgentSteps | undefined> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (trx) => {
    const found = await findNode(trx, node, query);
    if (found === undefined) return undefined;
    const { nodeStatus, isAgent, isExpired: expired } = found;
    const head = { nodeStatus: nodeStatus ?? undefined, isExpired: expired };
    if (!isAgent) return { ...head, total: 0, steps: [], calls: [] };
    const total = await countSteps(trx, node);
    const steps = await readSteps(trx, node, query, expired);
    const calls = expired ? [] : await readCalls(trx, node, query, steps);
    return { ...head, total, steps, calls };
  });
}

interface FoundNode {
  nodeStatus: NodeStatus | null;
  isAgent: boolean;
  isExpired: boolean;
}

async function findNode(db: Db, { runId, path, nodeId }: NodeKey, query: StepsQuery): Promise<FoundNode | undefined> {
  const { rows } = await sql<FoundNode>`
    SELECT node.status AS "nodeStatus", node.step IS NOT NULL AS "isAgent", run.is_expired AS "isExpired"
    FROM (SELECT *, ${isExpired(query.retentionDays)} AS is_expired FROM runs WHERE id = ${runId}) run
    LEFT JOIN node_results node ON node.run_id = run.id AND node.path = ${path} AND node.node_id = ${nodeId}
      AND NOT node.is_iteration
    WHERE run.workflow_id = ${query.workflowId}`.execute(db);
  return rows[0];
}

/** True for the last attempt of a model call. */
const isStep = sql<boolean>`(model IS NOT NULL AND ordinal = 0)`;

async function countSteps(db: Db, { runId, path, nodeId }: NodeKey): Promise<number> {
  const { total } = await db
    .selectFrom('provider_calls')
    .select((row) => row.fn.countAll<number>().as('total'))
    .where((row) => row.and(keyColumns({ runId, path, nodeId })))
    .where(isStep)
    .executeTakeFirstOrThrow();
  return total;
}

async function readSteps(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  { limit, offset, maxBytes }: StepsQuery,
  expired: boolean,
): Promise<StoredStep[]> {
  const { rows } = await sql<StoredStep>`
    SELECT turn, state, model, CASE WHEN state = 'applied' THEN input_tokens END AS "inputTokens",
      CASE WHEN state = 'applied' THEN output_tokens END AS "outputTokens", paid_usd AS "priceUsd",
      sent_at AS "sentAt", replied_at AS "repliedAt", coalesce(is_final, false) AS "isFinal",
      CASE WHEN read_bytes <= ${maxBytes} THEN message_enc END AS "messageEnc",
      message_enc IS NOT NULL AND read_bytes > ${maxBytes} AS "isLeftOut"
    FROM (
      SELECT called.*, said.is_final, said.message_enc,
        (SELECT sum(price_usd) FROM provider_calls AS paid WHERE paid.run_id = called.run_id AND paid.path = called.path
          AND paid.node_id = called.node_id AND paid.turn = called.turn AND paid.ordinal <= 0) AS paid_usd,
        sum(octet_length(said.message_enc)) OVER (ORDER BY called.turn) AS read_bytes
      FROM (
        SELECT * FROM provider_calls
        WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND ${isStep}
        ORDER BY turn LIMIT ${limit} OFFSET ${offset}
      ) called
      LEFT JOIN agent_turns said ON said.run_id = called.run_id AND said.path = called.path
        AND said.node_id = called.node_id AND said.turn = called.turn AND ${!expired}
    ) step ORDER BY turn`.execute(db);
  return rows;
}

async function readCalls(
  db: Db,
  { runId, path, nodeId }: NodeKey,
  { maxBytes }: StepsQuery,
  steps: StoredStep[],
): Promise<StoredStepCall[]> {
  const turns = steps.map(({ turn }) => turn);
  const read = steps.reduce((sum, { messageEnc }) => sum + (messageEnc?.length ?? 0), 0);
  const fits = sql<boolean>`read_bytes <= ${maxBytes - read}::bigint`;
  const { rows } = await sql<StoredStepCall>`
    SELECT turn, ordinal, server_label AS "serverLabel", tool_name AS "toolName", outcome, request_id AS "requestId",
      approval, child_run_id AS "childRunId", sent_at AS "sentAt", finished_at AS "finishedAt", NOT ${fits} AS "isLeftOut",
      CASE WHEN ${fits} THEN arguments_enc END AS "argumentsEnc", CASE WHEN ${fits} THEN edited_enc END AS "editedEnc",
      CASE WHEN ${fits} THEN answer_enc END AS "answerEnc"
    FROM (
      SELECT call.*, request.status AS approval, request.edited_enc, wait.child_run_id,
        coalesce(made.sent_at, child.created_at) AS sent_at,
        sum(octet_length(call.arguments_enc) + coalesce(octet_length(request.edited_enc), 0)
          + coalesce(octet_length(call.answer_enc), 0)) OVER (ORDER BY call.turn, call.ordinal) AS read_bytes
      FROM agent_tool_calls call
      LEFT JOIN approval_requests request USING (request_id)
      LEFT JOIN provider_calls made ON made.run_id = call.run_id AND made.path = call.path
        AND made.node_id = call.node_id AND made.turn = call.turn AND made.ordinal = call.ordinal + 1
      LEFT JOIN waits wait ON wait.run_id = call.run_id AND wait.path = call.path AND wait.node_id = call.node_id
        AND wait.call = ${numberOfCall}
      LEFT JOIN runs child ON child.id = wait.child_run_id
      WHERE call.run_id = ${runId} AND call.path = ${path} AND call.node_id = ${nodeId} AND call.turn = ANY (${turns})
    ) called ORDER BY turn, ordinal`.execute(db);
  return rows;
}
