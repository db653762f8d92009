// What the draft of a user was before the newest answer of the assistant in the editor, so that its changes can be
// shown and undone.
import { sql, type InferResult } from 'kysely';
import type { Db } from '../core/client.js';
import { isOldDraft } from '../retention/retention-repository.js';

/** Requires the transaction that starts the run of the answer. */
export async function keepBaseline(transaction: Db, conversationId: string, runId: string): Promise<void> {
  await sql`
    INSERT INTO answer_baselines AS kept
      (conversation_id, run_id, workflow_id, user_id, document, secrets_enc, base_version)
    SELECT conversation.id, ${runId}::uuid, workflow.id, conversation.author_id, draft.document, draft.secrets_enc,
      coalesce(draft.base_version, workflow.version)
    FROM conversations AS conversation JOIN workflows AS workflow ON workflow.id = conversation.workflow_id
      LEFT JOIN (SELECT * FROM workflow_drafts WHERE NOT ${isOldDraft}) AS draft
        ON draft.workflow_id = workflow.id AND draft.user_id = conversation.author_id
    WHERE conversation.id = ${conversationId}
    ON CONFLICT (conversation_id) DO UPDATE SET run_id = excluded.run_id, document = excluded.document,
      secrets_enc = excluded.secrets_enc, base_version = excluded.base_version, created_at = excluded.created_at`.execute(
    transaction,
  );
}

export type Baseline = InferResult<ReturnType<typeof selectBaseline>>[number];

/** Returns undefined if the assistant has not answered yet. */
export function findBaseline(db: Db, workflowId: number, userId: number): Promise<Baseline | undefined> {
  return selectBaseline(db, workflowId, userId).executeTakeFirst();
}

function selectBaseline(db: Db, workflowId: number, userId: number) {
  return db
    .selectFrom('answer_baselines')
    .select(['run_id as runId', 'base_version as baseVersion'])
    .select(sql<string | null>`document::text`.as('document'))
    .where('workflow_id', '=', workflowId)
    .where('user_id', '=', userId);
}
