import { isObject, type JsonObject } from './json.js';
import { writeJson } from './json-text.js';
import { toShallowJson } from './shallow-json.js';

export interface ToolArguments {
  /** The text that the model wrote, or the JSON text of its value; `{}` if it wrote nothing. */
  text: string;
  /** Undefined if the arguments are not a JSON object of moderate depth: the call cannot be made. */
  parsed: JsonObject | undefined;
}

/**
 * Reads arguments as models write them: the text of a JSON object, as the protocol requires, or the object itself. Many
 * models write nothing, blanks or null for a tool without arguments.
 */
export function readArguments(written: unknown): ToolArguments {
  if (written === undefined || written === null) return { text: '{}', parsed: {} };
  const text = typeof written === 'string' ? written : writeJson(written);
  if (text.trim() === '') return { text: '{}', parsed: {} };
  const value = toShallowJson(text);
  return { text, parsed: isObject(value) ? value : undefined };
}
