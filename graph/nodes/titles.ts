// Editors name the fields of a node by the titles in its schema.
import { isObject } from '../json.js';

/** Where the key itself, in words, would mislead or be hard to read. */
const TITLES: Readonly<Record<string, string>> = {
  endpoint_url: 'Server URL',
  fail_on_error: 'Fail on a tool error',
  fail_on_status: 'Fail on an error status',
  input_requirements: 'Required',
  is_default: 'Chosen by default',
  is_error: 'Is an error',
  is_secret: 'Secret',
  json: 'JSON',
  max_tokens: 'Tokens at most',
  max_iterations: 'Model calls at most',
  model_name: 'Model',
  on_reject: 'After a rejection',
  require_approval: 'Approval by a person',
  retry_unsafe: 'Repeat unsafe calls',
  top_p: 'Top P',
  url: 'URL',
};

/** Returns a copy of a JSON Schema in which every property has a title: its own, else one made of its key. */
export function withTitles(schema: object): object {
  return mapSchema(schema) as object;
}

function mapSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(mapSchema);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([word, part]) => [word, word === 'properties' ? mapProperties(part) : mapSchema(part)]),
  );
}

function mapProperties(properties: unknown): unknown {
  if (!isObject(properties)) return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => [key, { title: toTitle(key), ...(mapSchema(schema) as object) }]),
  );
}

/** `tool_name` -> `Tool name`. */
function toTitle(key: string): string {
  if (Object.hasOwn(TITLES, key)) return TITLES[key] ?? key;
  const words = key.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
