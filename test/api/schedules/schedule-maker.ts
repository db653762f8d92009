// Creates schedules of workflows, and reads their firings.
import type { Backfill, Client, ScheduleHandle } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { scheduleName } from '../../../contract/scheduled-run.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase, withTemporal } from '../../support/inspect.js';
import type { TestStack } from '../../../harness/stack/stack.js';

export interface Schedule {
  id: string;
  cron: string;
  time_zone: string;
  input: unknown;
  overlap: string;
  is_paused: boolean;
  pause_reason: string | null;
  jitter_seconds: number;
  catchup_seconds: number;
  next_run_times: string[] | null;
  author: { id: number; name: string };
  last_firing: { at: string; run_id: string | null; refusal: { code: string; message: string } | null } | null;
  created_at: string;
}

/** A cron line that does not fire by itself while a test runs. */
export const ONCE_A_YEAR = '0 0 1 1 *';

/** Creates a schedule. Resolves once Temporal has it, too. */
export async function makeSchedule(api: ApiClient, workflowId: number, body?: object): Promise<Schedule> {
  return untilTold(api, workflowId, await postSchedule(api, workflowId, body));
}

export async function postSchedule(
  api: ApiClient,
  workflowId: number,
  body: object = { cron: ONCE_A_YEAR },
): Promise<Schedule> {
  const answer = await api.post<Schedule>(`/workflows/${workflowId}/schedules/`, { body });
  if (answer.status !== 201) throw new Error(`no schedule (${answer.status}): ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/**
 * Waits until Temporal has the schedule. The answer of the API may come earlier: Temporal's scheduler only starts with
 * the first schedule of the stack.
 */
export async function untilTold(api: ApiClient, workflowId: number, schedule: Schedule): Promise<Schedule> {
  if (schedule.next_run_times !== null) return schedule;
  return eventually(async () => {
    const found = await findSchedule(api, workflowId, schedule.id);
    return found.next_run_times === null ? undefined : found;
  });
}

export async function findSchedule(api: ApiClient, workflowId: number, id: string): Promise<Schedule> {
  const { body } = await api.get<{ items: Schedule[] }>(`/workflows/${workflowId}/schedules/?size=100`);
  return body.items.find((schedule) => schedule.id === id)!;
}

export function inTemporal<T>(stack: TestStack, id: string, use: (handle: ScheduleHandle) => Promise<T>): Promise<T> {
  return withTemporal(stack, (client) => use(client.schedule.getHandle(scheduleName(id))));
}

/** Fires the times of the range now. */
export function backfill(stack: TestStack, id: string, range: Backfill): Promise<void> {
  return inTemporal(stack, id, (handle) => handle.backfill(range));
}

/**
 * The times of Temporal's schedule from `fromMs` to before `untilMs`, in the past or future. Temporal returns at most
 * 1,000 times in one answer.
 */
export async function dueOnTemporal(
  { workflowService, options }: Client,
  scheduleId: string,
  [fromMs, untilMs]: readonly [fromMs: number, untilMs: number],
): Promise<number[]> {
  const { namespace } = options;
  const due: number[] = [];
  for (let lastMs = fromMs - 1_000; ; lastMs = due.at(-1)!) {
    const range = { startTime: msToTs(lastMs), endTime: msToTs(untilMs - 1_000) };
    const { startTime } = await workflowService.listScheduleMatchingTimes({ namespace, scheduleId, ...range });
    due.push(...startTime.map(({ seconds }) => Number(seconds) * 1_000));
    if (startTime.length < 1_000) return due;
  }
}

export interface FiredRow {
  at: Date;
  run_id: string;
  status: string;
  user_id: number;
}

/** The firings in the order of their nominal times. Throws if a run has no firing, or a firing has no run. */
export async function firingsOf(stack: TestStack, id: string, workflowId: number): Promise<FiredRow[]> {
  const rows = await queryDatabase<Partial<FiredRow>>(
    stack,
    `SELECT firing.at, runs.id AS run_id, runs.status, runs.user_id
     FROM (SELECT * FROM schedule_firings WHERE schedule_id = $1) AS firing
       FULL JOIN (SELECT * FROM runs WHERE workflow_id = $2) AS runs ON runs.id = firing.run_id ORDER BY firing.at`,
    [id, workflowId],
  );
  const odd = rows.filter(({ at, run_id: runId }) => !at || !runId);
  if (odd.length > 0) throw new Error(`firings and runs differ: ${JSON.stringify(odd)}`);
  return rows as FiredRow[];
}

export function untilFired(
  stack: TestStack,
  schedule: Pick<Schedule, 'id'>,
  workflowId: number,
  count: number,
): Promise<FiredRow[]> {
  return eventually(
    async () => {
      const rows = await firingsOf(stack, schedule.id, workflowId);
      if (rows.length < count) throw new Error(`${rows.length} of ${count} firings`);
      return rows;
    },
    { timeoutMs: 60_000 },
  );
}
