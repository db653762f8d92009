// Validates the fields of a schedule and seals its input.
import { z } from 'zod';
import { openDrawing } from '../../acceptance/opened-drawing.js';
import { resolveRunFiles } from '../../acceptance/run-files.js';
import { sealScheduleInput, secretFieldsThen, type ScheduleInput } from '../../acceptance/schedule-input.js';
import type { Db } from '../../db/core/client.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { completeInput, fieldIdsOf, inputFieldsOf, parseSessionInput, secretFieldsOf } from '../../graph/input.js';
import { ownValue } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';
import { MASK } from '../../graph/mask-text.js';
import { keepInputSecrets } from '../../graph/secrets.js';
import type { ScheduleDeps } from './deps.js';
import { invalidFields } from '../http/errors.js';
import { parseCron } from './cron.js';
import { overlapPolicy } from './schedule-view.js';
import { toTimeZone } from './time-zones.js';

const MAX_INPUT_CHARACTERS = 262_144;
const MAX_JITTER_SECONDS = 3_600;
/** Temporal raises a shorter window to this one. */
const LEAST_CATCHUP_SECONDS = 10;
const MAX_CATCHUP_SECONDS = 86_400;

const cron = z
  .string()
  .max(300)
  .describe('Minute, hour, day of month, month, day of week, as in crontab: `0 8 * * MON-FRI`');
const timeZone = z.string().max(100).describe('A name of the IANA database, such as `Europe/Berlin`');
const input = z.unknown().describe('The input of its runs: an object, an array or a text');
const overlap = overlapPolicy.describe('What a firing does while a run of the schedule is open');
const isPaused = z.boolean();
const jitter = z.int().min(0).max(MAX_JITTER_SECONDS).describe('Each firing comes late by up to so much, at random');
const catchup = z
  .int()
  .min(LEAST_CATCHUP_SECONDS)
  .max(MAX_CATCHUP_SECONDS)
  .describe('How late a firing may come that the engine has slept through; an older one is left out');

export const newScheduleBody = z.object({
  cron,
  time_zone: timeZone.default('UTC'),
  input: input.optional(),
  overlap: overlap.default('skip'),
  is_paused: isPaused.default(false),
  jitter_seconds: jitter.default(0),
  catchup_seconds: catchup.default(300),
});

export const scheduleChangeBody = z.object({
  cron: cron.optional(),
  time_zone: timeZone.optional(),
  input: input.optional(),
  overlap: overlap.optional(),
  is_paused: isPaused.optional(),
  jitter_seconds: jitter.optional(),
  catchup_seconds: catchup.optional(),
});

/** Throws 400 for a text that is no cron expression, or is never due. */
export function readCron(text: string): string {
  try {
    return parseCron(text).cron;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalidFields({ cron: [`Enter a cron expression such as \`0 8 * * MON-FRI\`: ${reason}.`] });
  }
}

export function readTimeZone(name: string): string {
  const zone = toTimeZone(name);
  if (zone === undefined) throw invalidFields({ time_zone: ['Enter a time zone such as Europe/Berlin.'] });
  return zone;
}

interface InputToSeal {
  workflow: StoredDrawing;
  scheduleId: string;
  body: unknown;
  stored?: ScheduleInput | undefined;
}

/**
 * Returns the sealed input and the ids of its files. `********` stands for the `stored` value of every field that is
 * masked in answers. Throws 400 if the workflow, as it is now, would refuse the input, or if the input is too long.
 */
export async function sealInput(
  deps: Pick<ScheduleDeps, 'secretBox'> & { db: Db },
  { workflow, scheduleId, body, stored }: InputToSeal,
): Promise<{ inputEnc: Buffer; fileIds: string[] }> {
  const { drawing } = openDrawing(deps.secretBox, workflow);
  const sent = parseSessionInput(body);
  const now = secretFieldsOf(drawing);
  const then = (stored ? secretFieldsThen(stored) : []).filter(({ id }) => ownValue(sent, id as string) === MASK);
  const masked = [...now, ...then];
  const merged = keepInputSecrets(masked, sent, (fieldId) => stored && ownValue(stored.input, fieldId));
  const fields = inputFieldsOf(drawing);
  // As for a run, `********` counts as a missing value in a field that is not secret.
  const { errors: fieldErrors } = completeInput(
    fields,
    keepInputSecrets(fields, merged, () => undefined),
  );
  const projectId = workflow.project_id;
  const files = await resolveRunFiles(deps.db, { projectId, fields, input: merged });
  const errors = [...fieldErrors, ...files.inputErrors];
  if (errors.length > 0) {
    throw invalidFields({
      input: errors.flatMap((error) => Object.entries(error).map(([field, sentence]) => `${field}: ${sentence}`)),
    });
  }
  const text = writeJson(files.input);
  if (text.length > MAX_INPUT_CHARACTERS) {
    throw invalidFields({ input: [`Ensure this value has at most ${MAX_INPUT_CHARACTERS} characters.`] });
  }
  const facts = { input: files.input, secretFieldIds: [...fieldIdsOf(masked)] };
  return { inputEnc: sealScheduleInput(deps.secretBox, scheduleId, facts), fileIds: files.fileIds };
}
