// The fields of a workflow that a client may send.
import { Decimal } from 'decimal.js';
import { z } from 'zod';
import { isObject, type JsonObject } from '../../graph/json.js';
import { tooManyNotes } from '../../graph/notes.js';
import { holdsMoreSecretPlacesThan } from '../../graph/secret-count.js';
import { limitAmount } from '../http/limit-amount.js';
import { integerField, upTo } from '../http/field-errors.js';
import { documentedAs } from '../http/documented-as.js';
import { MAX_ID } from '../http/path-ids.js';

export const titleBody = z.string().trim().min(1).max(255);

/**
 * Each secret is sealed, compared and searched for separately, which would take too long for more. A run has a limit as
 * well: `graph/input.ts` limits the characters of all secret fields of its input together.
 */
const MAX_SECRET_PLACES = 10_000;
const TOO_MANY_SECRETS = `A drawing may have ${MAX_SECRET_PLACES} secret fields and headers at most.`;

/** Returns a sentence if the drawing has too many secrets, or notes that are too many or too long; else undefined. */
export function storingProblem(drawing: JsonObject): string | undefined {
  return holdsMoreSecretPlacesThan(drawing, MAX_SECRET_PLACES) ? TOO_MANY_SECRETS : tooManyNotes(drawing);
}

/** zod does not copy the drawing: all keys of the editor, including `__proto__`, are stored as they were sent. */
const anyDrawing = z.unknown().transform((value, context) => {
  if (isObject(value)) return value;
  const message = value === undefined ? 'This field is required.' : 'Expected a JSON object.';
  context.addIssue({ code: 'custom', message: value === null ? 'This field may not be null.' : message });
  return z.NEVER;
});

const storableDrawing = anyDrawing.transform((value, context) => {
  const problem = storingProblem(value);
  if (problem === undefined) return value;
  context.addIssue({ code: 'custom', message: problem });
  return z.NEVER;
});

const DOCUMENTED = {
  type: 'object',
  description: 'The drawing: nodes, edges, start_node and whatever else the editor keeps.',
};

export const drawingBody = documentedAs(storableDrawing, DOCUMENTED);

/** For drawings that are not stored: accepts any number of notes and secrets. */
export const anyDrawingBody = documentedAs(anyDrawing, DOCUMENTED);

const runFee = z
  .union([z.string(), z.number()], 'A valid number is required.')
  .transform((value) => String(value).trim())
  .refine((text) => /^\d{1,12}(\.\d{1,18})?$/.test(text), 'A valid number is required.')
  .transform((text) => new Decimal(text).toFixed());

const languages = upTo(200, z.array(z.string().trim().min(1).max(16)).max(200));

const categories = upTo(100, z.array(z.int('A valid integer is required.')).max(100)).transform((ids) => [
  ...new Set(ids),
]);

export const fromDraft = z
  .boolean()
  .optional()
  .describe('Whether `********` is the value in the draft of the caller; where that has none, the stored one');

const MOST_TAGS = 10;

const tags = upTo(100, z.array(z.string().trim().min(1).max(40)).max(100))
  .transform((words) => [...new Set(words)])
  .refine(({ length }) => length <= MOST_TAGS, `Ensure this field has no more than ${MOST_TAGS} elements.`);

export const workflowChangesSchema = z
  .object({
    title: titleBody,
    data: drawingBody,
    from_draft: fromDraft,
    draft_etag: z
      .string()
      .max(100)
      .optional()
      .describe(
        'With `from_draft`: the `ETag` of the draft. Nothing is changed when the draft is another one by now (412)',
      ),
    tags: documentedAs(tags, {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 40 },
      maxItems: MOST_TAGS,
      description: 'Trimmed, compared exactly; a tag that is given twice is kept once',
    }),
    market_title: z.string().trim().max(255),
    short_description: z.string().trim().max(1000),
    available_languages: languages.transform((codes) => [...new Set(codes)]),
    readme_guide: z.string().max(200_000),
    run_fee: runFee,
    max_run_cost: limitAmount.nullable(),
    free_runs_per_user: integerField().min(0).max(MAX_ID),
    categories,
    subcategories: categories,
    is_tool: z.boolean(),
    is_chat: z.boolean(),
  })
  .partial()
  .refine(({ data, from_draft: isFromDraft }) => data !== undefined || isFromDraft !== true, {
    path: ['data'],
    message: 'This field is required with from_draft.',
  });
