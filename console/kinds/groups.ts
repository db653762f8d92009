// Fields that a schema puts under a heading of their own (`group`), because every kind has them.
import { propertiesOf } from '../forms/schema.js';
import { asText, type JsonObject } from '../drawing/json.js';

export interface FieldGroup {
  heading: string;
  keys: string[];
  /** The schema of these fields alone. */
  fields: JsonObject;
}

/** The groups of a schema, in the order of their first fields. */
export function groupsOf(schema: JsonObject): FieldGroup[] {
  const groups = new Map<string, [key: string, property: JsonObject][]>();
  for (const [key, property] of Object.entries(propertiesOf(schema))) {
    const heading = asText(property['group']);
    if (heading !== undefined) groups.set(heading, [...(groups.get(heading) ?? []), [key, property]]);
  }
  return [...groups].map(([heading, entries]) => ({
    heading,
    keys: entries.map(([key]) => key),
    fields: { ...schema, properties: Object.fromEntries(entries) },
  }));
}

/** The schema without the fields that are in groups. */
export function withoutGroups(schema: JsonObject): JsonObject {
  const own = Object.entries(propertiesOf(schema)).filter(([, property]) => asText(property['group']) === undefined);
  return { ...schema, properties: Object.fromEntries(own) };
}
