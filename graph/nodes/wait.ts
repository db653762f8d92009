import { z } from 'zod';
import { ownValue, type JsonObject } from '../json.js';
import type { NodeKind } from '../kinds.js';
import { NodeError } from '../node-error.js';
import { hasVariables, renderText, type VariableValues } from '../template.js';
import type { NodeDefinition } from './node-definition.js';
import { DEFAULT_TIMEOUT_SECONDS, MAX_WAIT_SECONDS, SECONDS_FORMAT, timeoutField } from './shared-fields.js';

type Mistake = (field: string, message: string) => void;

// The contents of `seconds` and `until` are checked only in their own mode, because editors keep them when the mode
// changes. The types of all fields are checked in every mode.
const schema = z
  .looseObject({
    mode: z
      .enum(['duration', 'until', 'callback'])
      .default('duration')
      .meta({
        labels: { duration: 'for a time', until: 'until a date and time', callback: 'until it is called back' },
      }),
    seconds: z
      .union([z.number(), z.string()], {
        error: ({ input }) => (input === undefined ? undefined : 'Input should be a valid number or string'),
      })
      .nullish()
      .describe('How long it waits, at most 30 days. In seconds it may be a variable')
      .meta({ title: 'Duration', format: SECONDS_FORMAT, when: { mode: 'duration' }, needed: true }),
    until: z
      .string()
      .nullish()
      .describe('A date and time such as 2030-01-31T09:00+01:00. Without an offset it is in UTC. It may hold variables')
      .meta({ when: { mode: 'until' }, needed: true }),
    timeout: timeoutField('How long it waits for the call. Empty: 3 days').meta({ when: { mode: 'callback' } }),
  })
  .superRefine(
    (data: unknown, context) => {
      const { mode = 'duration', seconds, until } = (data ?? {}) as Record<string, unknown>;
      const mistake: Mistake = (field, message) => context.addIssue({ code: 'custom', path: [field], message });
      if (mode === 'duration') checkSeconds(seconds, mistake);
      if (mode === 'until') checkUntil(until, mistake);
    },
    { when: () => true },
  );

function checkSeconds(seconds: unknown, mistake: Mistake): void {
  if (seconds === undefined || seconds === null) return mistake('seconds', 'Field required');
  if (hasVariables(seconds) || (typeof seconds !== 'string' && typeof seconds !== 'number')) return;
  const number = typeof seconds === 'string' ? toNumber(seconds) : seconds;
  if (number !== undefined && number >= 0 && number <= MAX_WAIT_SECONDS) return;
  mistake('seconds', `Input should be a number of seconds from 0 to ${MAX_WAIT_SECONDS}`);
}

function checkUntil(until: unknown, mistake: Mistake): void {
  if (until === undefined || until === null) return mistake('until', 'Field required');
  if (hasVariables(until) || typeof until !== 'string') return;
  const moment = toMoment(until);
  if (moment === undefined) mistake('until', 'Input should be a valid date and time (ISO 8601)');
  else if (moment - Date.now() > MAX_WAIT_SECONDS * 1000) mistake('until', 'Input should be at most 30 days ahead');
}

type WaitNodeData = z.infer<typeof schema>;

export const waitNode = {
  kind: 'wait',
  type: 'wait-node',
  nodeType: 'WaitNodeInput',
  title: 'Wait',
  description: 'Waits for a time, until a moment, or for a callback.',
  category: 'Logic',
  example: { mode: 'duration', seconds: 60 },
  templateFields: ['seconds', 'until'],
  schema,
  outputSchema: z.looseObject({
    content: z.string().describe('The moment as ISO 8601; of a callback the body as text'),
    json: z.unknown().optional().describe('The body of the callback, where it is JSON'),
  }),
} as const satisfies NodeDefinition;

/** True if the node waits for a callback. The data may be invalid. */
export function waitsForCallback(kind: NodeKind, data: JsonObject): boolean {
  return kind === 'wait' && ownValue(data, 'mode') === 'callback';
}

/**
 * True if the literal `seconds` or `timeout` of a wait or a human task lasts at least as long as a run may, so the run
 * ends first. A default timeout and `until` are not compared.
 */
export function outlastsRun(kind: NodeKind, { mode, seconds, timeout }: JsonObject, runDays: number): boolean {
  if (kind !== 'wait' && kind !== 'human') return false;
  const limit = kind === 'human' || mode === 'callback' ? timeout : mode === 'until' ? 0 : seconds;
  return Number(limit) >= runDays * 24 * 3600;
}

/**
 * Returns the end of the wait, in milliseconds since the epoch. Throws a `NodeError` with the code `invalid_wait` for
 * negative or invalid `seconds`, an invalid `until`, and a wait of more than 30 days.
 */
export function waitUntil(
  { mode, seconds, until, timeout }: WaitNodeData,
  values: VariableValues,
  nowMs: number,
): number {
  if (mode === 'callback') return nowMs + Math.round((timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000);
  if (mode === 'until') {
    const moment = toMoment(renderText(until ?? '', values));
    if (moment === undefined) throw invalid('`until` is not a valid date and time (ISO 8601).');
    return checked(moment, nowMs);
  }
  const rendered = typeof seconds === 'number' ? seconds : toNumber(renderText(seconds ?? '', values));
  if (rendered === undefined || rendered < 0)
    throw invalid(`\`seconds\` is not a number from 0 to ${MAX_WAIT_SECONDS}.`);
  return checked(nowMs + rendered * 1000, nowMs);
}

/** A time in the past is not an error: the run continues at once. */
function checked(untilMs: number, nowMs: number): number {
  if (untilMs - nowMs > MAX_WAIT_SECONDS * 1000) throw invalid('The wait is longer than 30 days.');
  return Math.max(nowMs, Math.round(untilMs));
}

function invalid(message: string): NodeError {
  return new NodeError('invalid_wait', message);
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

function toNumber(text: string): number | undefined {
  const trimmed = text.trim();
  const number = DECIMAL.test(trimmed) ? Number(trimmed) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

/** Date and time of day, with an offset or else in UTC. A date alone stands for its first moment. */
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

function toMoment(text: string): number | undefined {
  const trimmed = text.trim();
  const match = ISO.exec(trimmed);
  if (match === null) return undefined;
  const hasTime = trimmed.length > 'YYYY-MM-DD'.length;
  const moment = Date.parse(hasTime && match[1] === undefined ? `${trimmed}Z` : trimmed);
  return Number.isNaN(moment) || !isDay(trimmed.slice(0, 10)) ? undefined : moment;
}

/** True if the month has this day. `Date` would continue into the next month. */
function isDay(day: string): boolean {
  const first = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(first.getTime()) && first.toISOString().startsWith(day);
}
