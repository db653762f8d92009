import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../../app/api.js';
import { readAllPages } from '../../../app/calls.js';

const SCHEDULES = '/api/v1/workflows/{id}/schedules/';
const SCHEDULE = '/api/v1/workflows/{id}/schedules/{schedule_id}/';

type Schedules = paths[typeof SCHEDULES];
export type Schedule = Schedules['get']['responses'][200]['content']['application/json']['items'][number];
export type ScheduleBody = NonNullable<Schedules['post']['requestBody']>['content']['application/json'];
export type ScheduleChange = NonNullable<paths[typeof SCHEDULE]['patch']['requestBody']>['content']['application/json'];

/** A firing a minute is the most that there is. */
const REFRESH_MS = 30_000;

/** A workflow has at most 20. */
export function useSchedules(workflowId: number): UseQueryResult<Schedule[]> {
  return useQuery({
    queryKey: ['schedules', workflowId],
    queryFn: ({ signal }) =>
      readAllPages((page) =>
        unwrap(api.GET(SCHEDULES, { params: { path: { id: workflowId }, query: { page, size: 100 } }, signal })),
      ),
    refetchInterval: REFRESH_MS,
  });
}

export function makeSchedule(workflowId: number, body: ScheduleBody): Promise<Schedule> {
  return unwrap(api.POST(SCHEDULES, { params: { path: { id: workflowId } }, body }));
}

export function changeSchedule(workflowId: number, scheduleId: string, body: ScheduleChange): Promise<Schedule> {
  return unwrap(api.PATCH(SCHEDULE, { params: { path: { id: workflowId, schedule_id: scheduleId } }, body }));
}

export function deleteSchedule(workflowId: number, scheduleId: string): Promise<unknown> {
  return unwrap(api.DELETE(SCHEDULE, { params: { path: { id: workflowId, schedule_id: scheduleId } } }));
}
