import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import cronstrue from 'cronstrue';
import { parseJson } from '../../../graph/json-text.js';
import { api, unwrap, type paths } from '../../service/api.js';
import { readAllPages } from '../../service/calls.js';
import { ofCron } from './repeats.js';

const SCHEDULES = '/api/v1/workflows/{id}/schedules/';
const SCHEDULE = '/api/v1/workflows/{id}/schedules/{schedule_id}/';
const SCHEDULES_OF_PROJECT = '/api/v1/projects/{id}/schedules/';

type Schedules = paths[typeof SCHEDULES];
type SchedulePage = Schedules['get']['responses'][200]['content']['application/json'];
/** In the lists, numbers of the input that a double would round are `ExactNumber`. */
export type Schedule = SchedulePage['items'][number];
type ProjectSchedulePage = paths[typeof SCHEDULES_OF_PROJECT]['get']['responses'][200]['content']['application/json'];
/** A schedule with its workflow. The title is undefined on the workflow's own page. */
export interface ListedSchedule extends Schedule {
  workflow: { id: number; title?: string };
}
type ScheduleBody = NonNullable<Schedules['post']['requestBody']>['content']['application/json'];
type ScheduleChange = NonNullable<paths[typeof SCHEDULE]['patch']['requestBody']>['content']['application/json'];

/** A schedule fires at most once a minute. */
const REFRESH_MS = 30_000;

/** A workflow has at most 20 schedules. */
export function useSchedules(workflowId: number): UseQueryResult<Schedule[]> {
  return useQuery({
    queryKey: ['schedules', workflowId],
    queryFn: ({ signal }) =>
      readAllPages(async (page) => {
        const params = { path: { id: workflowId }, query: { page, size: 100 } };
        return parseJson(await unwrap(api.GET(SCHEDULES, { params, parseAs: 'text', signal }))) as SchedulePage;
      }),
    refetchInterval: REFRESH_MS,
  });
}

/** The service's maximum page size for this list. */
const SIZE = 20;

/** Loads one page of the schedules of all workflows of the project. The first `page` is 1. */
export function useSchedulesOfProject(projectId: number, page: number) {
  return useQuery({
    queryKey: ['schedules', 'of-project', projectId, page],
    queryFn: async ({ signal }) => {
      const params = { path: { id: projectId }, query: { page, size: SIZE } };
      const text = await unwrap(api.GET(SCHEDULES_OF_PROJECT, { params, parseAs: 'text', signal }));
      return parseJson(text) as ProjectSchedulePage;
    },
    placeholderData: keepPreviousData,
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

// The form of a schedule.

type Overlap = Schedule['overlap'];

export const OVERLAPS: readonly { value: Overlap; label: string; hint: string }[] = [
  { value: 'skip', label: 'Skip it', hint: 'The firing starts nothing.' },
  { value: 'buffer_one', label: 'Start it afterwards', hint: 'One firing waits for the end of the open run.' },
  { value: 'allow_all', label: 'Start it at once', hint: 'The runs go on side by side.' },
  { value: 'cancel_other', label: 'Cancel the open run', hint: 'The new run starts after the end of the open one.' },
];

interface ScheduleFields {
  cron: string;
  timeZone: string;
  overlap: Overlap;
  jitter: string;
  catchup: string;
}

export function newFields(cron: string): ScheduleFields {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return { cron: cron === '' ? '0 9 * * *' : cron, timeZone, overlap: 'skip', jitter: '0', catchup: '300' };
}

export function fieldsOfSchedule(schedule: Schedule): ScheduleFields {
  return {
    cron: schedule.cron,
    timeZone: schedule.time_zone,
    overlap: schedule.overlap,
    jitter: String(schedule.jitter_seconds),
    catchup: String(schedule.catchup_seconds),
  };
}

/**
 * An empty text stands for the service's default. Any other text that is not a number becomes `NaN`, which JSON writes
 * as null, so that the service explains the error.
 */
export function toBody({ cron, timeZone, overlap, jitter, catchup }: ScheduleFields): ScheduleBody {
  return {
    cron,
    time_zone: timeZone,
    overlap,
    jitter_seconds: Number(jitter || '0'),
    catchup_seconds: Number(catchup || '300'),
  };
}

/**
 * Returns text such as `At 08:00, Monday through Friday`, or undefined if the text is not a five-field cron expression.
 */
export function inWords(cron: string): string | undefined {
  if (cron.trim().split(/\s+/).length !== 5) return undefined;
  const { kind, at } = ofCron(cron);
  // The library says only `At 09:00`.
  if (kind === 'day') return `Every day at ${at}`;
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true });
  } catch {
    return undefined;
  }
}

export const timeZones: readonly { value: string; label: string }[] = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  .filter((zone, index, all) => all.indexOf(zone) === index)
  .map((zone) => ({ value: zone, label: zone }));
