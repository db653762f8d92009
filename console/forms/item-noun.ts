import type { JsonObject } from '../../graph/json.js';
import { asObject, asText } from '../ui/json.js';

/** The item names of lists whose names are not plurals. */
const NOUNS: Readonly<Record<string, string>> = { body: 'field', input: 'input', query: 'parameter' };

/** Returns the name of one item of a list: the title of its schema, else the singular of the label, or `item`. */
export function itemNoun(label: string, schema: JsonObject = {}): string {
  const title = asText(asObject(schema['items'])['title']);
  if (title !== undefined) return title.toLowerCase();
  const known = label.toLowerCase();
  if (Object.hasOwn(NOUNS, known)) return NOUNS[known]!;
  if (known.endsWith('ies')) return known.replace(/ies$/, 'y');
  return /[^s]s$/.test(known) ? known.replace(/s$/, '') : 'item';
}

/** Returns `Action 2` for the noun `action` and the index 1. */
export function itemName(noun: string, at: number): string {
  return `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${at + 1}`;
}
