// The durable steps of an agent node. Each model call and each answer is stored once and found by a repeated step.
import { sql, type Transaction } from 'kysely';
import { keyColumns } from '../nodes/key-columns.js';
import type { Database, Db } from '../core/client.js';
import type { NodeKey } from '../../graph/plan.js';
import { markCallApplied, UNPAID, type PaidCall } from '../nodes/provider-calls-repository.js';
import { addPaidCall, lockRun } from './agent-charges.js';
import type { ApprovalStatus, Role, Tables, ToolOutcome } from '../core/tables.js';
import { notifyWatchers } from '../watches/notify-watchers.js';
import { enqueueWebhookEvent } from '../webhooks/webhook-outbox-repository.js';

export interface TurnKey extends NodeKey {
  turn: number;
}

export interface StoredTurn {
  turn: number;
  isFinal: boolean;
  messageEnc: Buffer;
  usage: Record<string, unknown> | null;
}

export function findTurns(db: Db, key: NodeKey): Promise<StoredTurn[]> {
  return db
    .selectFrom('agent_turns')
    .select(['turn', 'is_final as isFinal', 'message_enc as messageEnc'])
    .select((row) => row.ref('usage').$castTo<StoredTurn['usage']>().as('usage'))
    .where((row) => row.and(keyColumns(key)))
    .orderBy('turn')
    .execute();
}

export interface StoredToolCall {
  turn: number;
  ordinal: number;
  toolCallId: string;
  serverLabel: string | null;
  toolName: string;
  argumentsEnc: Buffer;
  /** The arguments with which a person has replaced the model's. */
  editedEnc: Buffer | null;
  outcome: ToolOutcome | null;
  requestId: string | null;
  approval: ApprovalStatus | null;
  reason: string | null;
  waitMs: number | null;
}

export interface AnsweredToolCall extends StoredToolCall {
  answerEnc: Buffer | null;
}

const callColumns = sql`call.turn, call.ordinal, call.tool_call_id AS "toolCallId", call.server_label AS "serverLabel",
  call.tool_name AS "toolName", call.arguments_enc AS "argumentsEnc", call.outcome, call.request_id AS "requestId",
  request.status AS approval, request.reason, request.edited_enc AS "editedEnc",
  (extract(epoch FROM request.expires_at - clock_timestamp()) * 1000)::float8 AS "waitMs"`;

/** Returns the calls of all turns with their answers. Reserve memory for them first (`measureConversation`). */
export async function findToolCalls(db: Db, { runId, path, nodeId }: NodeKey): Promise<AnsweredToolCall[]> {
  const { rows } = await sql<AnsweredToolCall>`
    SELECT ${callColumns}, call.answer_enc AS "answerEnc"
    FROM agent_tool_calls call LEFT JOIN approval_requests request USING (request_id)
    WHERE call.run_id = ${runId} AND call.path = ${path} AND call.node_id = ${nodeId}
    ORDER BY call.turn, call.ordinal`.execute(db);
  return rows;
}

export async function findCallsOfTurn(db: Db, { runId, path, nodeId, turn }: TurnKey): Promise<StoredToolCall[]> {
  const { rows } = await sql<StoredToolCall>`
    SELECT ${callColumns} FROM agent_tool_calls call LEFT JOIN approval_requests request USING (request_id)
    WHERE call.run_id = ${runId} AND call.path = ${path} AND call.node_id = ${nodeId} AND call.turn = ${turn}
    ORDER BY call.ordinal`.execute(db);
  return rows;
}

/** Returns the bytes of the stored messages and of all tool calls with their answers. */
export async function measureConversation(db: Db, { runId, path, nodeId }: NodeKey): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(size), 0)::float8 AS bytes FROM (
      SELECT octet_length(message_enc) AS size FROM agent_turns
      WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}
      UNION ALL
      SELECT octet_length(arguments_enc) + coalesce(octet_length(answer_enc), 0) FROM agent_tool_calls
      WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId}
    ) AS part`.execute(db);
  return rows[0]?.bytes ?? 0;
}

export interface AskedApproval {
  requestId: string;
  /** JSON text, secrets masked. */
  shownArguments: string;
  argumentsHash: string;
  expiresInSeconds: number;
  required: number;
  excludeStarter: boolean;
  /** Null if everybody with the right to draw may decide. */
  roles: Role[] | null;
  /** The only user who may decide, in a test run or a run of the assistant in the editor. Null in other runs. */
  onlyUser: number | null;
}

export interface NewToolCall {
  toolCallId: string;
  serverLabel: string | null;
  toolName: string;
  argumentsEnc: Buffer;
  /** Set for a call that cannot be made: the answer for the model, sealed. */
  invalidEnc: Buffer | null;
  approval: AskedApproval | null;
}

export interface NewTurn extends TurnKey, PaidCall {
  /** The attempt of the model call that returned the turn (`CallClaim.attempts`). */
  attempt: number;
  nodeLabel: string;
  isFinal: boolean;
  messageEnc: Buffer;
  toolCalls: NewToolCall[];
}

/**
 * Stores the model's message, its tool calls, their approval requests and the price in one transaction. Before the
 * commit the turn has not happened (the ledger has `sent`); after it, a repeated step finds the turn. If two attempts
 * both get an answer, the first answer sets the turn, and the call of the later attempt is charged. If the run has
 * ended, turn and price are stored all the same, and the approval requests expire at once.
 */
export async function saveTurn(db: Database, turn: NewTurn): Promise<void> {
  const { runId, path, nodeId, attempt } = turn;
  const key = { run_id: runId, path, node_id: nodeId, turn: turn.turn };
  await db.transaction().execute(async (trx) => {
    const isOpen = await lockRun(trx, runId);
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('agent_turns')
      .values({ ...key, is_final: turn.isFinal, message_enc: turn.messageEnc, usage: turn.usage })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows !== 0n) await insertToolCalls(trx, turn, isOpen);
    await addPaidCall(trx, { runId, path, nodeId, turn: turn.turn, attempt }, turn);
  });
}

async function insertToolCalls(trx: Transaction<Tables>, turn: NewTurn, isOpen: boolean): Promise<void> {
  const { runId, path, nodeId } = turn;
  for (const [ordinal, call] of turn.toolCalls.entries()) {
    if (call.approval !== null) {
      await insertApproval(trx, turn, { ordinal, call, approval: call.approval, isOpen });
      await enqueueWebhookEvent(trx, { type: 'agent_approval.requested', runId });
    }
    await trx
      .insertInto('agent_tool_calls')
      .values({
        run_id: runId,
        path,
        node_id: nodeId,
        turn: turn.turn,
        ordinal,
        tool_call_id: call.toolCallId,
        server_label: call.serverLabel,
        tool_name: call.toolName,
        arguments_enc: call.argumentsEnc,
        request_id: call.approval?.requestId ?? null,
        ...(call.invalidEnc === null
          ? {}
          : { outcome: 'invalid' as const, answer_enc: call.invalidEnc, finished_at: sql<Date>`now()` }),
      })
      .execute();
  }
}

interface NewApproval {
  ordinal: number;
  call: NewToolCall;
  approval: AskedApproval;
  isOpen: boolean;
}

async function insertApproval(
  trx: Transaction<Tables>,
  turn: NewTurn,
  { ordinal, call, approval, isOpen }: NewApproval,
): Promise<void> {
  await trx
    .insertInto('approval_requests')
    .values({
      request_id: approval.requestId,
      run_id: turn.runId,
      project_id: sql<number>`(SELECT project_id FROM runs WHERE id = ${turn.runId})`,
      path: turn.path,
      node_id: turn.nodeId,
      node_label: turn.nodeLabel,
      turn: turn.turn,
      ordinal,
      server_label: call.serverLabel ?? '',
      tool_name: call.toolName,
      arguments: approval.shownArguments,
      arguments_hash: approval.argumentsHash,
      required: approval.required,
      exclude_starter: approval.excludeStarter,
      roles: approval.roles,
      only_user: approval.onlyUser,
      expires_at: sql<Date>`now() + make_interval(secs => ${approval.expiresInSeconds})`,
      ...(isOpen ? {} : { status: 'expired', decided_at: sql<Date>`now()` }),
    })
    .returning(notifyWatchers(turn.runId).as('notified'))
    .execute();
}

/**
 * Stores the answer to a tool call once, and closes the call's entry in the ledger. `attempt` is absent if no entry is
 * open.
 */
export async function saveToolAnswer(
  db: Database,
  call: TurnKey & { ordinal: number },
  answer: { outcome: ToolOutcome; answerEnc: Buffer; attempt?: number },
): Promise<void> {
  const { turn, ordinal } = call;
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('agent_tool_calls')
      .set({ outcome: answer.outcome, answer_enc: answer.answerEnc, finished_at: sql`now()` })
      .where((row) => row.and({ ...keyColumns(call), turn, ordinal }))
      .where('outcome', 'is', null)
      .execute();
    const { attempt } = answer;
    if (attempt === undefined) return;
    await markCallApplied(trx, { ...call, ordinal: ordinal + 1, attempt }, UNPAID);
  });
}
