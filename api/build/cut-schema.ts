// Cuts a JSON Schema that is too long for an answer: texts, choices and inner fields before fields.
import { cutText } from '../../graph/cut-text.js';
import { isContainer, isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { sizeOf, takeFitting } from './cut-answer.js';

interface Cut {
  /** How many levels of fields are kept. Fields of the last level keep only their own keywords. */
  levels: number;
  /** The limit on texts. A longer description is cut; other longer texts, such as patterns, are left out. */
  characters: number;
  /** The limit on the parts of a list, such as `enum` and `anyOf`. */
  choices: number;
}

/** From the mildest to the strongest, which keeps only the names, the types and `required` of the outermost fields. */
const CUTS: readonly Cut[] = [
  { levels: 4, characters: 200, choices: 20 },
  { levels: 2, characters: 80, choices: 5 },
  { levels: 1, characters: 0, choices: 0 },
];

interface CutSchema {
  schema: JsonObject;
  /** Says what was cut; empty if nothing was. */
  mark: string;
}

/** Returns the schema of an object, or the mildest cut of it that has at most `bytes`. */
export function cutToFit(schema: JsonObject, bytes: number): CutSchema {
  if (sizeOf(schema) <= bytes) return { schema, mark: '' };
  const cuts = CUTS.map((cut) => cutSchema(schema, cut) as JsonObject);
  const fits = cuts.find((each) => sizeOf(each) <= bytes);
  if (fits !== undefined) return { schema: fits, mark: '. Cut: parts of the descriptions, choices and inner fields' };
  return withFewerFields(cuts.at(-1)!, bytes);
}

function cutSchema(schema: unknown, cut: Cut): unknown {
  if (!isObject(schema)) return schema;
  return Object.fromEntries(Object.entries(schema).flatMap(([key, value]) => cutKeyword(key, value, cut)));
}

/** Returns the entry of the keyword, or none. */
function cutKeyword(key: string, value: unknown, cut: Cut): [string, unknown][] {
  const { levels, characters, choices } = cut;
  const inner = { ...cut, levels: levels - 1 };
  if (key === 'type') return [[key, value]];
  if (typeof value === 'string') {
    if (value.length <= characters) return [[key, value]];
    return key === 'description' && characters > 0 ? [[key, `${cutText(value, characters)}...`]] : [];
  }
  if (!isContainer(value)) return [[key, value]];
  if (key === 'enum' && Array.isArray(value)) {
    // A shorter `enum` would say that the other values are wrong.
    const shown: unknown[] = value.slice(0, choices);
    return shown.length === 0 ? [] : [[value.length > choices ? 'examples' : key, shown]];
  }
  if (levels === 0) return [];
  if (key === 'required') return [[key, value]];
  if (key === 'properties' && isObject(value)) {
    const fields = Object.entries(value).map(([name, field]) => [name, cutSchema(field, inner)] as const);
    return [[key, Object.fromEntries(fields)]];
  }
  if (!Array.isArray(value)) return [[key, cutSchema(value, inner)]];
  const parts = value.slice(0, choices).map((part: unknown) => cutSchema(part, inner));
  return parts.length === 0 ? [] : [[key, parts]];
}

/** Keeps as many fields as fit, the required ones first. */
function withFewerFields(schema: JsonObject, bytes: number): CutSchema {
  const properties = Object.entries((ownValue(schema, 'properties') ?? {}) as JsonObject);
  const required = new Set((ownValue(schema, 'required') ?? []) as string[]);
  const inOrder = [true, false].flatMap((first) => properties.filter(([name]) => required.has(name) === first));
  // The name of a required field stands in `required`, too.
  const entries = inOrder.map(([name, field]) => ({ name, field, ...(required.has(name) && { required: name }) }));
  const kept = takeFitting(entries, bytes);
  const lost = `${properties.length - kept.length} of ${properties.length} fields`;
  return {
    schema: {
      ...schema,
      properties: Object.fromEntries(kept.map(({ name, field }) => [name, field])),
      required: kept.map(({ name }) => name).filter((name) => required.has(name)),
    },
    mark: `. Cut: descriptions, choices and inner fields, and ${lost}`,
  };
}
