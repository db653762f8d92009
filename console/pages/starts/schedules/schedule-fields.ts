// A schedule as its form shows it.
import cronstrue from 'cronstrue';
import type { Schedule, ScheduleBody } from './use-schedules.js';

type Overlap = Schedule['overlap'];

export const OVERLAPS: readonly { value: Overlap; label: string; hint: string }[] = [
  { value: 'skip', label: 'Skip it', hint: 'The firing starts nothing.' },
  { value: 'buffer_one', label: 'Start it afterwards', hint: 'One firing waits for the end of the open run.' },
  { value: 'allow_all', label: 'Start it at once', hint: 'The runs go on side by side.' },
  { value: 'cancel_other', label: 'Cancel the open run', hint: 'The new run starts after the end of the open one.' },
];

export interface ScheduleFields {
  cron: string;
  timeZone: string;
  overlap: Overlap;
  jitter: string;
  catchup: string;
}

export function newFields(): ScheduleFields {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return { cron: '0 8 * * MON-FRI', timeZone, overlap: 'skip', jitter: '0', catchup: '300' };
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

/** What is no number goes as it is: the service says what is wrong with it. */
export function toBody({ cron, timeZone, overlap, jitter, catchup }: ScheduleFields): ScheduleBody {
  return {
    cron,
    time_zone: timeZone,
    overlap,
    jitter_seconds: Number(jitter || '0'),
    catchup_seconds: Number(catchup || '300'),
  };
}

/** `At 08:00, Monday through Friday`. Undefined for what is no expression of five fields. */
export function inWords(cron: string): string | undefined {
  if (cron.trim().split(/\s+/).length !== 5) return undefined;
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true });
  } catch {
    return undefined;
  }
}

export const timeZones: readonly { value: string; label: string }[] = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  .filter((zone, index, all) => all.indexOf(zone) === index)
  .map((zone) => ({ value: zone, label: zone }));
