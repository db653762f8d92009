// The worker's side of human tasks: creates them and reads how they ended. A task leaves `pending` once, under its row
// lock: by an answer (answers-repository.ts), when it expires, or when its node is stopped
// (db/nodes/close-requests.ts).
import { sql, type RawBuilder } from 'kysely';
import { keyColumns } from '../nodes/key-columns.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Database } from '../core/client.js';
import { addReferences } from '../files/references-repository.js';
import { notifyWatchers } from '../watches/notify-watchers.js';
import { startWait, endWait, type OpenWait } from '../waits/waits-repository.js';
import { enqueueWebhookEvent } from '../webhooks/webhook-outbox-repository.js';
import type { HumanTaskStatus } from '../core/tables.js';

export interface NewTask {
  label: string;
  /** Secrets masked. */
  message: string;
  /** JSON texts. */
  fields: string;
  actions: string;
  files: string;
  /** The ids of the files in `files`, to which the run refers. */
  fileIds: readonly string[];
  roles: string[];
  users: number[];
  excludeStarter: boolean;
  required: number;
  /** The deadline in milliseconds since the epoch. */
  untilMs: number;
}

/**
 * Creates the task together with the start of the node and the project's webhook event, or finds the task of an
 * earlier attempt. Returns undefined if the run is not open. If the process dies before the commit, nobody was asked.
 */
export async function askPeople(db: Database, key: NodeKey, task: NewTask): Promise<OpenWait | undefined> {
  const { runId, path, nodeId } = key;
  return db.transaction().execute(async (trx) => {
    const wait = await startWait(trx, key, { kind: 'human', untilMs: task.untilMs });
    if (wait === undefined) return undefined;
    const { numAffectedRows } = await sql`
      INSERT INTO human_tasks (run_id, path, node_id, project_id, node_label, message, fields, actions, files, roles, users,
        exclude_starter, required, expires_at)
      SELECT id, ${path}, ${nodeId}, project_id, ${task.label}, ${task.message}, ${task.fields}::json, ${task.actions}::json, ${task.files}::json,
        ${task.roles}::text[], ${task.users}::integer[], ${task.excludeStarter}, ${task.required},
        ${new Date(wait.untilMs)}::timestamptz
      FROM runs WHERE id = ${runId}
      ON CONFLICT (run_id, path, node_id) DO NOTHING
      RETURNING ${notifyWatchers(runId)}`.execute(trx);
    await addReferences(trx, projectOfRun(runId), { kind: 'run', id: runId }, task.fileIds);
    if (numAffectedRows === 1n) await enqueueWebhookEvent(trx, { type: 'human_task.requested', runId });
    return wait;
  });
}

function projectOfRun(runId: string): RawBuilder<number> {
  return sql<number>`(SELECT project_id FROM runs WHERE id = ${runId})`;
}

export interface ClosedTask {
  taskId: string;
  status: Exclude<HumanTaskStatus, 'pending'>;
  action: string | null;
}

/** Ends the wait of the node if its task was answered or has expired; else returns undefined. Idempotent. */
export async function closeTask(db: Database, key: NodeKey): Promise<ClosedTask | undefined> {
  const { runId, path, nodeId } = key;
  return db.transaction().execute(async (trx) => {
    // Lock the task first, as answers do.
    await sql`
      UPDATE human_tasks SET status = 'expired', settled_at = clock_timestamp()
      WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND status = 'pending'
        AND expires_at <= clock_timestamp()
      RETURNING ${notifyWatchers(runId)}`.execute(trx);
    const task = await trx
      .selectFrom('human_tasks')
      .select(['task_id as taskId', 'status', 'action'])
      .where((row) => row.and(keyColumns(key)))
      .executeTakeFirst();
    if (task === undefined || task.status === 'pending') return undefined;
    await endWait(trx, key);
    return { ...task, status: task.status };
  });
}

export interface TaskAnswer {
  userId: number;
  /** JSON text: values by the ids of the fields. */
  entered: string;
  /** The unmasked form, sealed; null if nothing is masked. */
  enteredEnc: Buffer | null;
  comment: string;
}

/** Returns the answers that chose the task's action, oldest first. */
export function findChosen(db: Database, { taskId, action }: ClosedTask): Promise<TaskAnswer[]> {
  return db
    .selectFrom('human_answers')
    .select(['user_id as userId', 'entered_enc as enteredEnc', 'comment'])
    .select((row) => row.cast<string>('entered', 'text').as('entered'))
    .where('task_id', '=', taskId)
    .where('action', '=', action)
    .orderBy('answered_at')
    .orderBy('user_id')
    .execute();
}
