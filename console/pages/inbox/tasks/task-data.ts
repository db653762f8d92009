// Human tasks, as the service answers them. docs/use/approvers.md.
import { api, unwrap, type paths } from '../../../app/api.js';
import type { JsonObject } from '../../../drawing/json.js';

export type TaskList = paths['/api/v1/human-tasks/']['get']['responses'][200]['content']['application/json'];
export type Task = TaskList['items'][number];

/** The tasks of a page, newest first. */
export function listTasks(
  query: { status: 'pending' | 'answered' | 'expired'; page: number; size: number },
  signal: AbortSignal,
): Promise<TaskList> {
  return unwrap(api.GET('/api/v1/human-tasks/', { params: { query }, signal }));
}

export function readTask(taskId: string, signal?: AbortSignal): Promise<Task> {
  const options = { params: { path: { task_id: taskId } }, ...(signal && { signal }) };
  return unwrap(api.GET('/api/v1/human-tasks/{task_id}/', options));
}

export interface GivenAnswer {
  action: string;
  values: JsonObject;
  comment: string;
}

export function answerTask(taskId: string, body: GivenAnswer): Promise<Task> {
  return unwrap(api.POST('/api/v1/human-tasks/{task_id}/answer/', { params: { path: { task_id: taskId } }, body }));
}

/** `shown` with what is known of them now, and behind them what has come: nothing moves by itself. */
export function keepPlaces(shown: readonly Task[], listed: readonly Task[]): Task[] {
  const now = new Map(listed.map((task) => [task.id, task]));
  const known = new Set(shown.map(({ id }) => id));
  return [...shown.map((task) => now.get(task.id) ?? task), ...listed.filter(({ id }) => !known.has(id)).toReversed()];
}
