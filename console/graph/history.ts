// Undo: a stack of snapshots. Drawings share their parts, so a snapshot costs what has changed.
import type { Drawing } from './drawing.js';

export interface History {
  past: readonly Drawing[];
  present: Drawing;
  future: readonly Drawing[];
  /** What the last step was about: further changes of the same gesture belong to it. */
  gesture: string | undefined;
}

const MAX_STEPS = 200;

export function begin(present: Drawing): History {
  return { past: [], present, future: [], gesture: undefined };
}

/** One step a gesture: typing in one field, or nudging with the arrow keys, is undone at once. */
export function record(history: History, next: Drawing, gesture?: string): History {
  if (next === history.present) return history;
  const goesOn = gesture !== undefined && gesture === history.gesture;
  const past = goesOn ? history.past : [...history.past, history.present].slice(-MAX_STEPS);
  return { past, present: next, future: [], gesture };
}

export function endGesture(history: History): History {
  return history.gesture === undefined ? history : { ...history, gesture: undefined };
}

export function undo(history: History): History {
  const last = history.past.at(-1);
  if (last === undefined) return history;
  return {
    past: history.past.slice(0, -1),
    present: last,
    future: [history.present, ...history.future],
    gesture: undefined,
  };
}

export function redo(history: History): History {
  const [next, ...future] = history.future;
  if (next === undefined) return history;
  return { past: [...history.past, history.present], present: next, future, gesture: undefined };
}
