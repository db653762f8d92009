// Joins JSON values that arrive in pieces, as providers stream the fields of a message.
import { isObject, ownValue, setOwn, type JsonObject } from '../../../graph/json.js';

/** Providers repeat these fields in each piece instead of continuing them. */
const REPEATED = new Set(['type', 'format', 'id']);

/**
 * Joins each field of `added` with that of `known`: extends texts and lists, joins objects, and replaces other values.
 * Modifies `known` and may keep parts of `added`.
 */
export function joinFields(known: JsonObject, added: [name: string, value: unknown][]): void {
  for (const [name, value] of added) setOwn(known, name, joinValues(name, ownValue(known, name), value));
}

function joinValues(name: string, known: unknown, added: unknown): unknown {
  if (known === undefined || known === null) return added;
  if (added === undefined || added === null) return known;
  if (typeof added === 'string') return joinText(name, known, added);
  if (Array.isArray(added)) return joinList(known, added);
  if (!isObject(known) || !isObject(added)) return added;
  joinFields(known, Object.entries(added));
  return known;
}

function joinText(name: string, known: unknown, added: string): unknown {
  if (typeof known === 'string') return REPEATED.has(name) ? known || added : known + added;
  if (added === '') return known;
  if (!Array.isArray(known)) return added;
  const last: unknown = known.at(-1);
  if (isPlainText(last)) last.text += added;
  else known.push({ type: 'text', text: added });
  return known;
}

function isPlainText(part: unknown): part is { type: 'text'; text: string } {
  if (!isObject(part) || part['type'] !== 'text' || typeof part['text'] !== 'string') return false;
  return Object.keys(part).length === 2;
}

function joinList(known: unknown, added: unknown[]): unknown {
  if (!Array.isArray(known) && typeof known !== 'string') return added;
  const list: unknown[] = typeof known === 'string' ? [] : known;
  if (typeof known === 'string') joinText('', list, known);
  const places = placesOf(list);
  for (const item of added) {
    const continued = placedItem(list, item);
    if (continued !== undefined) joinFields(continued, Object.entries(item as JsonObject));
    else {
      list.push(item);
      place(places, item);
    }
  }
  return list;
}

type Places = Map<number, JsonObject>;

/** The items of each list by their `index`. If two items share an index, the later one counts. */
const placesOfLists = new WeakMap<unknown[], Places>();

function placesOf(list: unknown[]): Places {
  let places = placesOfLists.get(list);
  if (places !== undefined) return places;
  places = new Map();
  for (const item of list) place(places, item);
  placesOfLists.set(list, places);
  return places;
}

function place(places: Places, item: unknown): void {
  if (isObject(item) && typeof item['index'] === 'number') places.set(item['index'], item);
}

/** Returns the item of the list that `piece` continues. Some providers give items of different types the same index. */
export function placedItem(list: unknown, piece: unknown): JsonObject | undefined {
  if (!Array.isArray(list) || !isObject(piece) || typeof piece['index'] !== 'number') return undefined;
  const continued = placesOf(list).get(piece['index']);
  const isOfOtherType = isName(continued?.['type']) && isName(piece['type']) && continued['type'] !== piece['type'];
  return isOfOtherType ? undefined : continued;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
