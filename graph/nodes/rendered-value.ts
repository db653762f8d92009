// Results that a node's data defines, as any JSON with variables.
import { z } from 'zod';
import { writeJson, parseModestJson } from '../json-text.js';
import { NodeError } from '../node-error.js';
import {
  createRenderer,
  renderValue,
  RenderedTooLargeError,
  type NodeOutput,
  type VariableValues,
} from '../template.js';
import type { InlineDefinition } from './node-definition.js';

/** The limit on a value as JSON text. The body of an HTTP answer has the same limit, in bytes. */
const MAX_VALUE_CHARACTERS = 10 * 1024 * 1024;

/**
 * Returns the value with its variables filled in, and its `content`: the text, or the JSON as text. A text in the value
 * that is exactly one variable gets the variable's JSON type, and numbers stay as written. Throws a `NodeError` with
 * the code `output_too_large`.
 */
function toValueOutput(template: unknown, values: VariableValues): NodeOutput & { value: unknown } {
  try {
    const value = renderValue(template, createRenderer(values, MAX_VALUE_CHARACTERS));
    const content = typeof value === 'string' ? value : writeJson(value);
    if (content.length > MAX_VALUE_CHARACTERS) throw tooLarge();
    return { content, value };
  } catch (error) {
    throw error instanceof RenderedTooLargeError ? tooLarge() : error;
  }
}

function tooLarge(): NodeError {
  return new NodeError('output_too_large', `The value has more than ${MAX_VALUE_CHARACTERS} characters as JSON text.`);
}

// Below: the field `value` of kinds whose data defines their result.

const valueField = z
  .unknown()
  .refine((value) => value !== undefined, { error: 'Field required' })
  .describe('Any JSON. Texts in it may hold variables; a text that is one variable keeps its type');

export const ofValue = {
  templateFields: ['value'],
  templatePlaces: { value: 'json' },
  schema: z.looseObject({ value: valueField }),
  outputSchema: z.looseObject({
    content: z.string().describe('The value, as JSON text where it is no text'),
    value: z.unknown().describe('The value with its variables filled in'),
  }),
  evaluate: (data, values) => ({ output: toValueOutput(data['value'], values) }),
} as const satisfies Partial<InlineDefinition>;

// Below: the output of an iteration, for kinds that repeat a part of the drawing.

/** The field `output` may be any JSON, and its strings may contain variables. */
export const bodyOutputField = z
  .unknown()
  .optional()
  .describe(
    'Any JSON. Its variables are filled in after each iteration. Empty: the content of the last node of the body',
  );

/**
 * Returns the output of an iteration whose nodes have ended: `template` with its variables filled in. Without a
 * template it is the content of the node `lastNode`, parsed if it is JSON of moderate size (`parseModestJson`), or null
 * if that node has no result. Throws a `NodeError`.
 */
export function outputOfIteration(template: unknown, values: VariableValues, lastNode: string | undefined): unknown {
  if (template !== undefined) return toValueOutput(template, values).value;
  const output = lastNode === undefined ? undefined : values.results.get(lastNode);
  return output === undefined ? null : parseOrText(output.content);
}

function parseOrText(text: string): unknown {
  try {
    return parseModestJson(text);
  } catch {
    return text;
  }
}
