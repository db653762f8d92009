// Chat workflows (`is_chat`): they have conversations, and are models of `/v1/chat/completions`.
import type { Db } from '../core/client.js';
import type { Reach } from '../access/reach.js';
import { memberWorkflows } from './workflows-repository.js';

export interface ChatWorkflow {
  id: number;
  title: string;
  project_id: number;
  project_name: string;
  created_at: Date;
}

/** Lists the chats that the user may run, ordered by id. */
export function listChats(db: Db, reach: Reach, limit: number): Promise<ChatWorkflow[]> {
  return runnableChats(db, reach).orderBy('workflows.id').limit(limit).execute();
}

export function findChat(db: Db, reach: Reach, workflowId: number): Promise<ChatWorkflow | undefined> {
  return runnableChats(db, reach).where('workflows.id', '=', workflowId).executeTakeFirst();
}

function runnableChats(db: Db, reach: Reach) {
  return memberWorkflows(db, reach)
    .select(['workflows.id', 'workflows.title', 'workflows.project_id', 'workflows.created_at'])
    .select('projects.name as project_name')
    .where('workflows.is_chat', '=', true)
    .where('project_members.role', '!=', 'viewer');
}

/** Returns false for a deleted workflow, too. The caller must have checked access. */
export async function isChatWorkflow(db: Db, workflowId: number): Promise<boolean> {
  const found = await db
    .selectFrom('workflows')
    .select('id')
    .where('id', '=', workflowId)
    .where('is_chat', '=', true)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
  return found !== undefined;
}
