// What nodes put out whose data says it (`value`: any JSON with variables).
import { writeJson } from './json-text.js';
import { NodeError } from './node-error.js';
import { createRenderer, renderValue, RenderedTooLargeError, type NodeOutput, type Scope } from './template.js';

/** Of the value as JSON text, like the body of an HTTP answer. */
const MAX_VALUE_CHARACTERS = 10 * 1024 * 1024;

/**
 * Returns the value with its variables filled in, together with its `content`: the text, or the JSON as text. A value
 * that is exactly one variable keeps its JSON type, and numbers stay as they are written. Throws a `NodeError` with the
 * code `output_too_large`.
 */
export function toValueOutput(template: unknown, scope: Scope): NodeOutput & { value: unknown } {
  try {
    const value = renderValue(template, createRenderer(scope, MAX_VALUE_CHARACTERS));
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
