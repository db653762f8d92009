// Overrides the documentation of a schema whose generated JSON Schema would mislead: zod describes an integer of a
// query as text.
import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

const documented = z.registry<JsonSchema>();

/** Returns `schema` itself; the OpenAPI document shows `json` instead. */
export function documentedAs<T extends z.ZodType>(schema: T, json: JsonSchema): T {
  documented.add(schema, json);
  return schema;
}

export function documentationOf(schema: z.core.$ZodType): JsonSchema | undefined {
  return documented.get(schema);
}
