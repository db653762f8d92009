// Notes beside the nodes (`notes` of the drawing). People move, select and copy them like nodes, but runs ignore them.
// The keys of notes on the canvas have a prefix, because a note may have the id of a node.
import { createIdempotencyKey } from '../../clients/typescript/src/index.js';
import { MAX_NOTES } from '../../graph/notes.js';
import type { Drawing, Position } from './drawing.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { asArray, asText } from '../ui/json.js';

export interface DrawnNote extends JsonObject {
  id: string;
}

const SIZE = { width: 220, height: 140 };
export const LEAST_SIZE = { width: 120, height: 64 };

/** Ids of nodes and links contain no control characters. */
const PREFIX = '\u001Fnote ';

export function noteKey(id: string): string {
  return PREFIX + id;
}

/** Returns the id of a note by its key, or undefined if the key is not that of a note. */
export function noteOfKey(key: string): string | undefined {
  return key.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
}

const read = new WeakMap<Drawing, ReadonlyMap<string, DrawnNote>>();

/** Returns the displayable notes by id. */
export function notesOf(drawing: Drawing): ReadonlyMap<string, DrawnNote> {
  const known = read.get(drawing);
  if (known !== undefined) return known;
  const notes = new Map<string, DrawnNote>();
  for (const note of asArray(drawing['notes'])) if (isNote(note) && !notes.has(note.id)) notes.set(note.id, note);
  read.set(drawing, notes);
  return notes;
}

export function isNote(note: unknown): note is DrawnNote {
  return isObject(note) && typeof note['id'] === 'string' && note['id'] !== '';
}

export function textOfNote(note: DrawnNote): string {
  return asText(note['text']) ?? '';
}

export function sizeOfNote({ width, height }: DrawnNote): { width: number; height: number } {
  return {
    width: Math.max(typeof width === 'number' ? width : SIZE.width, LEAST_SIZE.width),
    height: Math.max(typeof height === 'number' ? height : SIZE.height, LEAST_SIZE.height),
  };
}

/** Adds an empty note centred at `middle`. Returns undefined if the drawing has the maximum of notes. */
export function addNote(drawing: Drawing, middle: Position): { drawing: Drawing; key: string } | undefined {
  if (asArray(drawing['notes']).length >= MAX_NOTES) return undefined;
  const position = { x: Math.round(middle.x - SIZE.width / 2), y: Math.round(middle.y - SIZE.height / 2) };
  const note = { id: createIdempotencyKey(), text: '', position, ...SIZE };
  return { drawing: withNotes(drawing, [note]), key: noteKey(note.id) };
}

export function withNotes(drawing: Drawing, added: readonly DrawnNote[]): Drawing {
  return added.length === 0 ? drawing : { ...drawing, notes: [...asArray(drawing['notes']), ...added] };
}

// If several notes have the same id, `notesOf` shows only the first, so changes apply to that one alone.

export function changeNote(drawing: Drawing, id: string, change: JsonObject): Drawing {
  const notes = asArray(drawing['notes']);
  const shown = notesOf(drawing).get(id);
  const isSame = Object.entries(change).every(([key, value]) => shown?.[key] === value);
  if (isSame) return drawing;
  return { ...drawing, notes: notes.map((note) => (isNote(note) && note === shown ? { ...note, ...change } : note)) };
}

export function removeNotes(drawing: Drawing, ids: ReadonlySet<string>): Drawing {
  const notes = asArray(drawing['notes']);
  const left = notes.filter((note) => !isNote(note) || !ids.has(note.id) || notesOf(drawing).get(note.id) !== note);
  return left.length === notes.length ? drawing : { ...drawing, notes: left };
}

export function chosenNotes(drawing: Drawing, keys: Iterable<string>): Set<string> {
  const ids = [...keys].map(noteOfKey).filter((id) => id !== undefined && notesOf(drawing).has(id));
  return new Set(ids as string[]);
}
