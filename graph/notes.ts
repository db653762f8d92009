// Notes next to the nodes of a drawing (`notes`, each with `text`). They never run, so only their size is checked.
import { isObject, type JsonObject } from './json.js';

export const MAX_NOTES = 200;
export const MAX_NOTE_CHARACTERS = 10_000;

/** Returns an error sentence if a drawing has too many notes or one that is too long, otherwise undefined. */
export function tooManyNotes({ notes }: JsonObject): string | undefined {
  if (!Array.isArray(notes)) return undefined;
  if (notes.length > MAX_NOTES) return `A drawing may have ${MAX_NOTES} notes at most.`;
  const isLong = notes.some((note) => isObject(note) && isLongText(note['text']));
  return isLong ? `A note may have ${MAX_NOTE_CHARACTERS} characters at most.` : undefined;
}

/** Counts characters as people do, so an emoji is one. */
function isLongText(text: unknown): boolean {
  if (typeof text !== 'string' || text.length <= MAX_NOTE_CHARACTERS) return false;
  return text.length > 2 * MAX_NOTE_CHARACTERS || Array.from(text).length > MAX_NOTE_CHARACTERS;
}
