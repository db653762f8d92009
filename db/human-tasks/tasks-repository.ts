// Reads human tasks for the API.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import type { HumanTaskStatus, RunPurpose } from '../core/tables.js';
import { personOf, type Person } from '../users/person.js';
import { markDeletedFiles } from '../files/deleted-marks.js';
import { isoText } from '../core/iso-text.js';
import { isInReach, type Reach } from '../access/reach.js';

export interface HumanTask {
  id: string;
  run_id: string;
  path: string;
  node_id: string;
  node_label: string;
  workflow: { id: number; title: string };
  project: { id: number; name: string };
  requested_by: Person;
  status: HumanTaskStatus;
  /** Markdown. */
  message: string;
  /** JSON texts: the input fields, the displayed files, the actions, and the answers so far. */
  fields: string;
  files: string;
  actions: string;
  answers: string;
  required: number;
  /** The action that enough people have chosen. */
  action: string | null;
  /** The author, time and comment of the answer that settled the task. */
  decided_by: Person | null;
  decided_at: Date | null;
  reason: string;
  created_at: Date;
  expires_at: Date;
  purpose: RunPurpose;
  /**
   * True if the reader is among the people who may answer, whatever the status of the task is, and even if the reader
   * has answered. `has_answered`: true if the reader has.
   */
  is_assigned: boolean;
  has_answered: boolean;
}

/** `decided` is another word for `answered`, as in lists of approvals. */
type TaskFilter = HumanTaskStatus | 'decided';

/** A task counts as expired as soon as its time is over, even before its run has noticed. */
const shownStatus = sql<HumanTaskStatus>`CASE WHEN task.status = 'pending' AND task.expires_at <= now()
  THEN 'expired' ELSE task.status END`;

/** The condition of `pending` matches the partial index of pending tasks. */
const FILTERS: Record<TaskFilter, RawBuilder<unknown>> = {
  pending: sql`task.status = 'pending' AND task.expires_at > now()`,
  answered: sql`task.status = 'answered'`,
  decided: sql`task.status = 'answered'`,
  expired: sql`(task.status = 'expired' OR (task.status = 'pending' AND task.expires_at <= now()))`,
};

/** True if `member` is among the people who may answer the task, whatever its status is. */
const isAssigned = sql`(member.role = ANY (task.roles) OR member.user_id = ANY (task.users))
  AND NOT (task.exclude_starter AND run.user_id = member.user_id)`;

const hasAnswered = sql`EXISTS (
  SELECT FROM human_answers AS mine WHERE mine.task_id = task.task_id AND mine.user_id = member.user_id)`;

/** `which`: the condition. The tasks are returned in no particular order. */
async function readTasks(db: Db, reach: Reach, which: RawBuilder<unknown>): Promise<HumanTask[]> {
  const { rows } = await sql<HumanTask>`
    SELECT task.task_id AS id, task.run_id, task.path, task.node_id, task.node_label,
      json_build_object('id', workflow.id, 'title', workflow.title) AS workflow,
      json_build_object('id', project.id, 'name', project.name) AS project,
      ${personOf('starter')} AS requested_by, ${shownStatus} AS status, task.message,
      task.fields::text AS fields, task.files::text AS files, task.actions::text AS actions, given.answers, task.required, task.action,
      CASE WHEN task.status = 'answered' THEN last.answered_by END AS decided_by,
      CASE WHEN task.status = 'answered' THEN task.settled_at END AS decided_at,
      CASE WHEN task.status = 'answered' THEN last.comment ELSE '' END AS reason,
      task.created_at, task.expires_at, run.purpose, ${isAssigned} AS is_assigned, ${hasAnswered} AS has_answered
    FROM human_tasks AS task
    JOIN runs AS run ON run.id = task.run_id
    JOIN workflows AS workflow ON workflow.id = run.workflow_id
    JOIN projects AS project ON project.id = run.project_id AND project.deleted_at IS NULL
    JOIN project_members AS member ON member.project_id = project.id AND member.user_id = ${reach.userId}
      AND ${isInReach('project.id', reach)}
    JOIN users AS starter ON starter.id = run.user_id
    CROSS JOIN LATERAL (
      SELECT coalesce(json_agg(json_build_object('answered_by', ${personOf('author')}, 'action', answer.action,
        'values', answer.entered, 'comment', answer.comment, 'answered_at', ${isoText(sql`answer.answered_at`)})
        ORDER BY answer.answered_at, answer.user_id), '[]')::text AS answers
      FROM human_answers AS answer JOIN users AS author ON author.id = answer.user_id
      WHERE answer.task_id = task.task_id
    ) AS given
    LEFT JOIN LATERAL (
      SELECT ${personOf('author')} AS answered_by, answer.comment
      FROM human_answers AS answer JOIN users AS author ON author.id = answer.user_id
      WHERE answer.task_id = task.task_id AND answer.action = task.action
      ORDER BY answer.answered_at DESC, answer.user_id DESC LIMIT 1
    ) AS last ON true
    WHERE ${which}`.execute(db);
  const runIds = rows.map((task) => task.run_id);
  const files = await markDeletedFiles(
    db,
    runIds,
    rows.map((task) => task.files),
  );
  const answers = await markDeletedFiles(
    db,
    runIds,
    rows.map((task) => task.answers),
  );
  return rows.map((task, at) => ({ ...task, files: files[at]!, answers: answers[at]! }));
}

/** Returns undefined if the task's project is not in reach. */
export async function findTaskInReach(db: Db, taskId: string, reach: Reach): Promise<HumanTask | undefined> {
  const [task] = await readTasks(db, reach, sql`task.task_id = ${taskId}`);
  return task;
}

export async function hasOpenTask(db: Db, projectId: number, userId: number): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM human_tasks AS task
    JOIN runs AS run ON run.id = task.run_id
    JOIN project_members AS member ON member.project_id = task.project_id AND member.user_id = ${userId}
    WHERE task.project_id = ${projectId} AND ${FILTERS.pending} AND ${isAssigned} LIMIT 1`.execute(db);
  return rows.length > 0;
}

interface TasksInReach {
  reach: Reach;
  status: TaskFilter | undefined;
  limit: number;
  offset: number;
}

/**
 * Lists the tasks of all projects in reach that the caller may answer, or could have answered, newest first. A pending
 * task that the caller has already answered is not listed as pending, because it waits for other people.
 */
export async function listTasksInReach(
  db: Db,
  { reach, status, limit, offset }: TasksInReach,
): Promise<{ total: number; tasks: HumanTask[] }> {
  const wanted = status === undefined ? sql`true` : FILTERS[status];
  const open = status === 'pending' ? sql`AND NOT ${hasAnswered}` : sql``;
  const mine = sql`
    FROM project_members AS member
    JOIN projects AS project ON project.id = member.project_id AND project.deleted_at IS NULL
    JOIN human_tasks AS task ON task.project_id = project.id
    JOIN runs AS run ON run.id = task.run_id
    WHERE member.user_id = ${reach.userId} AND ${isInReach('project.id', reach)} AND ${wanted} AND ${isAssigned} ${open}`;
  const counted = await sql<{ total: number }>`SELECT count(*) AS total ${mine}`.execute(db);
  const total = counted.rows[0]?.total ?? 0;
  if (offset >= total) return { total, tasks: [] };
  const { rows } = await sql<{ id: string }>`
    SELECT task.task_id AS id ${mine}
    ORDER BY task.created_at DESC, task.task_id DESC LIMIT ${limit}::bigint OFFSET ${offset}::bigint`.execute(db);
  const found = await readTasks(db, reach, sql`task.task_id = ANY (${rows.map(({ id }) => id)}::uuid[])`);
  const byId = new Map(found.map((task) => [task.id, task]));
  return { total, tasks: rows.flatMap(({ id }) => byId.get(id) ?? []) };
}
