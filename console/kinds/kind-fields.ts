// Groups of fields: the schema's `group` puts fields that every kind has under a common heading.
import { isObject, type JsonObject } from '../../graph/json.js';
import { pushTo } from '../../graph/push-to.js';
import { asText } from '../ui/json.js';
import { propertiesOf } from '../forms/schema.js';
import { cutText } from '../../graph/cut-text.js';

interface FieldGroup {
  heading: string;
  keys: string[];
  fields: JsonObject;
}

/** Returns the groups in the order of their first fields. */
export function groupsOf(schema: JsonObject): FieldGroup[] {
  const groups = new Map<string, [key: string, property: JsonObject][]>();
  for (const [key, property] of Object.entries(propertiesOf(schema))) {
    const heading = asText(property['group']);
    if (heading !== undefined) pushTo(groups, heading, [key, property]);
  }
  return [...groups].map(([heading, entries]) => ({
    heading,
    keys: entries.map(([key]) => key),
    fields: { ...schema, properties: Object.fromEntries(entries) },
  }));
}

export function withoutGroups(schema: JsonObject): JsonObject {
  const own = Object.entries(propertiesOf(schema)).filter(([, property]) => asText(property['group']) === undefined);
  return { ...schema, properties: Object.fromEntries(own) };
}

/**
 * Returns an id made from a title, such as `order_number` for `Order number`, that no item of `others` has. Used for
 * input fields, whose ids are names in variables, and for the cases of switches and the actions of human tasks.
 */
export function toUniqueId(title: string, others: readonly unknown[]): string {
  const used = new Set(others.map((field) => (isObject(field) ? asText(field['id']) : undefined)));
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
  const base = words === '' ? 'field' : cutText(words, 60);
  if (!used.has(base)) return base;
  for (let number = 2; ; number += 1) if (!used.has(`${base}_${number}`)) return `${base}_${number}`;
}
