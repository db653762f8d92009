// `settings.response_format` of nodes that call a model: the format that the answer must have
// (docs/use/interface-notes/graphs.md, "LLM node").
import { z } from 'zod';
import { findJson } from './found-json.js';
import { isObject } from './json.js';
import { schemaProblem } from './json-schema.js';
import { NodeError } from './node-error.js';
import { toFieldMessage } from './nodes/field-messages.js';
import { hasVariables } from './template.js';

const schemaFormat = z.looseObject({
  type: z.literal('json_schema'),
  json_schema: z.looseObject({
    name: z.string().regex(/^[\w-]{1,64}$/, { error: "Name should have 1 to 64 letters, digits, '_' or '-'" }),
    schema: z.unknown(),
    strict: z.boolean().nullish(),
  }),
});

const formats = z.discriminatedUnion(
  'type',
  [schemaFormat, z.looseObject({ type: z.literal('json_object') }), z.looseObject({ type: z.literal('text') })],
  {
    error: ({ code, input }) => {
      if (code !== 'invalid_union' || !isObject(input)) return undefined;
      return input['type'] === undefined ? 'Field required' : "Input should be 'json_schema', 'json_object' or 'text'";
    },
  },
);

interface Mistake {
  path: PropertyKey[];
  message: string;
}

/** The field of `settings`. A format with variables is checked only once they are filled in. */
export const responseFormatField = z
  .unknown()
  .optional()
  .superRefine((format, context) => {
    if (isAbsent(format) || hasVariables(format)) return;
    for (const mistake of mistakesIn(format)) context.addIssue({ code: 'custom', ...mistake });
  })
  .describe(
    'What form the answer must have, as the provider takes it: {"type": "json_schema", "json_schema": {"name", "schema", "strict"}} ' +
      'or {"type": "json_object"}. The service checks the answer, too',
  );

function isAbsent(format: unknown): boolean {
  return format === undefined || format === null;
}

function mistakesIn(format: unknown): Mistake[] {
  const parsed = formats.safeParse(format, { error: toFieldMessage });
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => ({ path, message }));
  if (parsed.data.type !== 'json_schema') return [];
  const { schema } = parsed.data.json_schema;
  const message = schema === undefined ? 'Field required' : schemaProblem(schema);
  return message === undefined ? [] : [{ path: ['json_schema', 'schema'], message }];
}

export interface AnswerForm {
  /** The schema, with its variables filled in. Undefined if any JSON object is valid. */
  schema?: object;
}

/**
 * Returns the required format of a rendered `response_format`, or undefined if it requires none. Throws a `NodeError`
 * with the code `invalid_response_format`.
 */
export function toAnswerForm(format: unknown): AnswerForm | undefined {
  if (isAbsent(format) || format === '') return undefined;
  const [mistake] = mistakesIn(format);
  if (mistake !== undefined) throw invalidFormat([...mistake.path.map(String), mistake.message].join(': '));
  const { type, json_schema: given } = format as { type: string; json_schema?: { schema: object } };
  if (type === 'text') return undefined;
  return given === undefined || type === 'json_object' ? {} : { schema: given.schema };
}

export function invalidFormat(reason: string): NodeError {
  return new NodeError('invalid_response_format', `The response_format cannot be used: ${reason}.`);
}

export type CheckedAnswer = { json: unknown } | { problem: string };

/** Reads an answer as JSON in the same way as variables read a content, but accepts any JSON value. */
export function readAnswer(content: string): CheckedAnswer {
  const json = findJson(content);
  return json === undefined ? { problem: 'it is not JSON, or has too many values' } : { json };
}
