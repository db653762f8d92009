// Converts zod schemas to the JSON Schemas of an OpenAPI document.
import { z } from 'zod';
import { documentationOf, type JsonSchema } from '../documented-as.js';

/** `output`: what the service writes. `input`: what a caller may send. */
type Direction = 'input' | 'output';

export interface JsonSchemas {
  /** Schemas with an `id` in their metadata become components, and the result refers to them. */
  of: (schema: z.ZodType, direction: Direction) => JsonSchema;
  components: () => Record<string, JsonSchema>;
}

export function createJsonSchemas(): JsonSchemas {
  const components = new Map<string, JsonSchema>();
  return {
    of(schema, direction) {
      // zod never converts the root itself to a reference, so the schema is wrapped as a property.
      const { $defs, properties } = convert(z.object({ root: schema }), direction);
      for (const [id, definition] of Object.entries(($defs ?? {}) as Record<string, JsonSchema>)) {
        components.set(id, relocate(definition) as JsonSchema);
      }
      const { root } = properties as { root: JsonSchema };
      return relocate(root) as JsonSchema;
    },
    components: () => Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function convert(schema: z.ZodType, direction: Direction): JsonSchema {
  return z.toJSONSchema(schema, {
    io: direction,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const documented = documentationOf(zodSchema);
      if (documented === undefined) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema];
      Object.assign(jsonSchema, documented);
    },
  });
}

/** Moves `#/$defs/X` to `#/components/schemas/X`, and drops constraints that do not inform a reader. */
function relocate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocate);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([key, member]) => !isNoise(key, member, value));
  return Object.fromEntries(
    members.map(([key, member]) => {
      if (key !== '$ref' || typeof member !== 'string') return [key, relocate(member)];
      return [key, member.replace('#/$defs/', '#/components/schemas/')];
    }),
  );
}

/** True for a pattern beside a `format`, the bounds of safe integers, and `propertyNames` that only require strings. */
function isNoise(key: string, member: unknown, parent: object): boolean {
  if (key === 'pattern') return 'format' in parent;
  if (key === 'minimum' || key === 'maximum') return Math.abs(Number(member)) === Number.MAX_SAFE_INTEGER;
  return key === 'propertyNames' && JSON.stringify(member) === '{"type":"string"}';
}
