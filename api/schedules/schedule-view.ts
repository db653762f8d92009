import { z } from 'zod';
import { openSecrets, type SealedSecrets } from '../../acceptance/opened-drawing.js';
import { openScheduleInput, secretFieldsThen } from '../../acceptance/schedule-input.js';
import type { ScheduleRecord } from '../../db/schedules/schedules-repository.js';
import { secretFieldsOf } from '../../graph/input.js';
import { createMasker } from '../../graph/mask.js';
import { maskInput, secretTexts } from '../../graph/secrets.js';
import type { ScheduleDeps } from './deps.js';
import { nextTimes } from './temporal-schedules.js';

const NEXT = 5;
/** The query of Temporal is cut off after this time, so that it does not delay the answer. */
const ASK_MS = 1_000;

export const overlapPolicy = z.enum(['skip', 'buffer_one', 'allow_all', 'cancel_other']);

export const scheduleSchema = z.object({
  id: z.uuid(),
  cron: z.string(),
  time_zone: z.string(),
  input: z.unknown().describe('As it leaves the service: secrets masked. Null: its key was withdrawn'),
  overlap: overlapPolicy,
  is_paused: z.boolean(),
  pause_reason: z
    .enum(['author_lost_access'])
    .nullable()
    .describe(
      'Why the service has paused it: the author may not run the workflow any more. Null: a person has paused it, or it is not paused',
    ),
  jitter_seconds: z.int(),
  catchup_seconds: z.int(),
  next_run_times: z
    .array(z.iso.datetime())
    .nullable()
    .describe(
      'The next five at most; empty while it is paused. Null: the engine does not answer or has not been told yet',
    ),
  author: z.object({ id: z.int(), name: z.string() }).describe('As whom the runs are started'),
  last_firing: z
    .object({
      at: z.iso.datetime().describe('The time that it was meant for'),
      run_id: z.uuid().nullable(),
      refusal: z.object({ code: z.string(), message: z.string() }).nullable().describe('Why no run was started'),
    })
    .nullable(),
  created_at: z.iso.datetime(),
});

export const projectScheduleSchema = scheduleSchema.extend({
  workflow: z.object({ id: z.int(), title: z.string() }),
});

/** A drawing, or the part of it that names secret fields. */
type Drawing = SealedSecrets & { document: unknown };

/** `input` is what `toMaskedInput` has returned. Asks Temporal for the next times. */
export async function toSchedule(
  deps: ScheduleDeps,
  schedule: ScheduleRecord,
  input: unknown,
): Promise<z.infer<typeof scheduleSchema>> {
  const { lastFiringAt: at, lastRefusalCode: code, lastRefusalMessage: message } = schedule;
  return {
    id: schedule.id,
    cron: schedule.cron,
    time_zone: schedule.timeZone,
    input,
    overlap: schedule.overlap,
    is_paused: schedule.isPaused,
    pause_reason: schedule.pauseReason,
    jitter_seconds: schedule.jitterSeconds,
    catchup_seconds: schedule.catchupSeconds,
    next_run_times: await askNextTimes(deps, schedule),
    author: { id: schedule.authorId, name: schedule.authorName },
    last_firing:
      at === null
        ? null
        : {
            at: at.toISOString(),
            run_id: schedule.lastRunId,
            refusal: code === null || message === null ? null : { code, message },
          },
    created_at: schedule.createdAt.toISOString(),
  };
}

/**
 * Returns the schedule's input with secrets masked: the fields that are secret in the workflow's `drawing` or were when
 * the input was sent, and other texts that contain their values or secrets of the drawing. Returns null if the input
 * cannot be opened, for example because its key was withdrawn.
 */
export function toMaskedInput(
  { secretBox }: Pick<ScheduleDeps, 'secretBox'>,
  { id, inputEnc }: ScheduleRecord,
  drawing: Drawing,
): unknown {
  const stored = openScheduleInput(secretBox, id, inputEnc);
  if (stored === undefined) return null;
  const fields = [...secretFieldsThen(stored), ...secretFieldsOf(drawing.document)];
  const { masked, secretValues } = maskInput(fields, stored.input);
  return createMasker([...secretValues, ...secretTexts(openSecrets(secretBox, drawing))]).json(masked);
}

async function askNextTimes({ temporal, logger }: ScheduleDeps, schedule: ScheduleRecord): Promise<string[] | null> {
  if (schedule.isPaused) return [];
  try {
    const times = await nextTimes(temporal, schedule, ASK_MS);
    return times?.slice(0, NEXT).map((time) => time.toISOString()) ?? null;
  } catch (error) {
    logger.debug({ err: error, schedule_id: schedule.id }, 'Temporal has not returned the next times of a schedule');
    return null;
  }
}
