// Arranges the selected nodes and notes. Each arrangement is one step of Undo.
import { moveNodes } from './change-drawing.js';
import { copyNodes, pasteNodes } from './clipboard.js';
import { dataOf, nodesOf, positionOf, typeOf, type Drawing, type NodeKinds, type Position } from './drawing.js';
import { CARD_WIDTH, cardHeight, withFrames } from './flow-nodes.js';
import { offeredExits } from './links.js';
import { changeNote, chosenNotes, noteKey, noteOfKey, notesOf, sizeOfNote } from './notes.js';

/** The alignments, each with the key that triggers it together with Alt. */
export const ALIGNMENTS = [
  { name: 'Align left', key: 'A', axis: 'x', part: 0 },
  { name: 'Align centers', key: 'H', axis: 'x', part: 0.5 },
  { name: 'Align right', key: 'D', axis: 'x', part: 1 },
  { name: 'Align top', key: 'W', axis: 'y', part: 0 },
  { name: 'Align middles', key: 'V', axis: 'y', part: 0.5 },
  { name: 'Align bottom', key: 'S', axis: 'y', part: 1 },
] as const;

export type Alignment = (typeof ALIGNMENTS)[number];

interface Sized {
  key: string;
  position: Position;
  width: number;
  height: number;
}

/** Aligns the selected nodes and notes; returns the same drawing if fewer than two are selected. */
export function alignChosen(
  drawing: Drawing,
  kinds: NodeKinds,
  chosen: ReadonlySet<string>,
  { axis, part }: Pick<Alignment, 'axis' | 'part'>,
): Drawing {
  const parts = chosenParts(drawing, kinds, chosen);
  if (parts.length < 2) return drawing;
  const length = axis === 'x' ? 'width' : 'height';
  const least = Math.min(...parts.map(({ position }) => position[axis]));
  const most = Math.max(...parts.map((each) => each.position[axis] + each[length]));
  const line = least + (most - least) * part;
  const places = parts.map((each) => {
    const moved = Math.round(line - each[length] * part);
    return [each.key, { ...each.position, [axis]: moved }] as const;
  });
  return moveAll(drawing, new Map(places));
}

function chosenParts(drawing: Drawing, kinds: NodeKinds, chosen: ReadonlySet<string>): Sized[] {
  const nodes = [...withFrames(drawing, kinds, chosen)].map((id): Sized => {
    const node = nodesOf(drawing).get(id)!;
    const height = cardHeight(offeredExits(kinds.get(typeOf(node)), dataOf(node)));
    return { key: id, position: positionOf(node), width: CARD_WIDTH, height };
  });
  const notes = [...chosenNotes(drawing, chosen)].map((id): Sized => {
    const note = notesOf(drawing).get(id)!;
    return { key: noteKey(id), position: positionOf(note), ...sizeOfNote(note) };
  });
  return [...nodes, ...notes];
}

/** Moves nodes and notes, identified by their keys on the canvas. */
export function moveAll(drawing: Drawing, places: ReadonlyMap<string, Position>): Drawing {
  let moved = moveNodes(drawing, places);
  for (const [key, position] of places) {
    const id = noteOfKey(key);
    const note = id === undefined ? undefined : notesOf(moved).get(id);
    if (note === undefined) continue;
    const from = positionOf(note);
    if (from.x !== position.x || from.y !== position.y) moved = changeNote(moved, note.id, { position });
  }
  return moved;
}

const OFFSET = { x: 40, y: 40 };

/**
 * Copies the selection with its inner links, and places the copy beside it. Returns undefined if nothing is selected.
 */
export function duplicateChosen(
  drawing: Drawing,
  kinds: NodeKinds,
  chosen: ReadonlySet<string>,
): { drawing: Drawing; keys: Set<string> } | undefined {
  return pasteNodes(drawing, kinds, copyNodes(drawing, kinds, chosen), OFFSET);
}
