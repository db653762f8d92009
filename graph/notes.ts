// Notes stand beside the nodes of a drawing (`notes`, each with `text`). Nothing of them runs, so only their size counts.
import { isObject, type JsonObject } from './json.js';

export const MAX_NOTES = 200;
export const MAX_NOTE_CHARACTERS = 10_000;

/** Returns a sentence if a drawing has more notes, or a longer one, than people can read; undefined otherwise. */
export function tooManyNotes({ notes }: JsonObject): string | undefined {
  if (!Array.isArray(notes)) return undefined;
  if (notes.length > MAX_NOTES) return `A drawing may have ${MAX_NOTES} notes at most.`;
  const isLong = notes.some((note) => isObject(note) && isLongText(note['text']));
  return isLong ? `A note may have ${MAX_NOTE_CHARACTERS} characters at most.` : undefined;
}

/** Characters count as people count them, so an emoji is one. */
function isLongText(text: unknown): boolean {
  if (typeof text !== 'string' || text.length <= MAX_NOTE_CHARACTERS) return false;
  return text.length > 2 * MAX_NOTE_CHARACTERS || Array.from(text).length > MAX_NOTE_CHARACTERS;
}
