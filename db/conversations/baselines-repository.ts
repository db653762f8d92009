// A baseline is the draft of a user as it was before the newest answer of the assistant in the editor. It is stored so
// that the changes by the assistant can be shown and undone.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { isOldBaseline, isOldDraft } from '../retention/retention-repository.js';
import type { DraftKey } from '../workflows/drafts-repository.js';

/**
 * Stores the author's present draft as the baseline of this run of the assistant, in place of the baseline of the
 * previous run. Requires the transaction that stores the run or, if the run is queued, takes it from the queue.
 */
export async function keepBaseline(transaction: Db, conversationId: string, runId: string): Promise<void> {
  await sql`
    INSERT INTO answer_baselines AS kept (conversation_id, run_id, workflow_id, user_id, document, bytes, base_version)
    SELECT conversation.id, ${runId}::uuid, workflow.id, conversation.author_id, draft.document,
      coalesce(octet_length(draft.document::text), 0), coalesce(draft.base_version, workflow.version)
    FROM conversations AS conversation JOIN workflows AS workflow ON workflow.id = conversation.workflow_id
      LEFT JOIN (SELECT * FROM workflow_drafts WHERE NOT ${isOldDraft}) AS draft
        ON draft.workflow_id = workflow.id AND draft.user_id = conversation.author_id
    WHERE conversation.id = ${conversationId}
    ON CONFLICT (conversation_id) DO UPDATE SET run_id = excluded.run_id, document = excluded.document,
      bytes = excluded.bytes, secrets_enc = NULL, base_version = excluded.base_version,
      created_at = excluded.created_at`.execute(transaction);
}

export interface Baseline {
  runId: string;
  baseVersion: number;
  /** JSON text; null where there was no draft. */
  document: string | null;
}

/**
 * Returns undefined if no answer of the assistant has started, if its newest answer started more than 30 days ago, or
 * if the user has saved or discarded the draft or deleted the conversation since.
 */
export function findBaseline(db: Db, key: DraftKey): Promise<Baseline | undefined> {
  return baselineOf(db, key)
    .select(['run_id as runId', 'base_version as baseVersion', sql<string | null>`document::text`.as('document')])
    .executeTakeFirst();
}

/** Returns the size of the drawing as JSON text; 0 if there is none. */
export async function measureBaseline(db: Db, key: DraftKey): Promise<number> {
  const baseline = await baselineOf(db, key)
    .select(sql<number | null>`octet_length(document::text)`.as('bytes'))
    .executeTakeFirst();
  return baseline?.bytes ?? 0;
}

function baselineOf(db: Db, { workflowId, userId }: DraftKey) {
  return db
    .selectFrom('answer_baselines')
    .where('workflow_id', '=', workflowId)
    .where('user_id', '=', userId)
    .where(sql<boolean>`NOT ${isOldBaseline}`);
}
