// Titles of node fields for forms, derived from the fields' names. A schema may set another title (`.meta({ title })`).
import { isObject, type JsonObject } from '../json.js';

/** Titles for fields whose names mean little to users. */
const TITLES = new Map([
  ['allowed_tools', 'Tools that may be called'],
  ['exclude_starter', 'Not by the person who started the run'],
  ['fail_on_error', 'Fail when the tool reports an error'],
  ['fail_on_status', 'Fail on 4xx and 5xx'],
  ['input_requirements', 'Required'],
  ['is_error', 'Failed'],
  ['model_name', 'Model'],
  ['on_reject', 'After a rejection'],
  ['require_approval', 'Approval by a person'],
  ['retry_unsafe', 'Repeat what may have been done'],
  ['status_code', 'Status'],
  ['top_p', 'Top P'],
]);
const CAPITALS = new Set(['id', 'json', 'mcp', 'url']);

/** Returns a copy of the JSON Schema in which every property, at any depth, has a `title`. */
export function withTitles<T extends object>(schema: T): T {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]: [string, unknown]) => [
      key,
      key === 'properties' && isObject(value) ? titled(value) : deeper(value),
    ]),
  ) as T;
}

function titled(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      isObject(schema) ? { title: titleOf(name), ...withTitles(schema) } : schema,
    ]),
  );
}

function deeper(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deeper);
  return isObject(value) ? withTitles(value) : value;
}

/** `server_label` -> `Server label`. */
function titleOf(name: string): string {
  const known = TITLES.get(name);
  if (known !== undefined) return known;
  const words = name.replace(/^is_/, '').split('_');
  const shown = words.map((word) => (CAPITALS.has(word) ? word.toUpperCase() : word)).join(' ');
  return shown.charAt(0).toUpperCase() + shown.slice(1);
}
