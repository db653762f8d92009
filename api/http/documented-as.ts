// What the documentation says of a schema whose own JSON Schema would mislead: a query's integer is a text to zod.
import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

const documented = z.registry<JsonSchema>();

/** Leaves the schema as it is; `json` stands for it in the OpenAPI document. */
export function documentedAs<T extends z.ZodType>(schema: T, json: JsonSchema): T {
  documented.add(schema, json);
  return schema;
}

export function documentationOf(schema: z.core.$ZodType): JsonSchema | undefined {
  return documented.get(schema);
}
