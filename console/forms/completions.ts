// Completion of variables after `{{`.
import { searchVariables } from '../drawing/variable-tree.js';
import type { VariableGroup } from '../drawing/variables.js';

interface OpenVariable {
  /** Position of the opening braces. */
  start: number;
  /** Position after the closing braces, or of the caret if they are missing. */
  end: number;
  /** Text between the braces and the caret. */
  typed: string;
}

/** Nobody types a longer variable by hand. */
const LONGEST = 200;

/** Returns the variable that contains the caret; undefined if no `{{` before the caret is still open. */
export function openVariable(text: string, caret: number): OpenVariable | undefined {
  const before = text.slice(Math.max(0, caret - LONGEST), caret);
  const braces = before.lastIndexOf('{{');
  if (braces < 0) return undefined;
  const typed = before.slice(braces + 2);
  if (/[{}\n]/.test(typed)) return undefined;
  // Braces after a quotation mark do not close the variable: in JSON, the mark ends the string around the variable.
  const rest = /^[^{}"\n]{0,200}\}\}/.exec(text.slice(caret, caret + LONGEST))?.[0] ?? '';
  return { start: caret - typed.length - 2, end: caret + rest.length, typed: typed.trim() };
}

interface Offered {
  /** Heading of the group and label of the variable. */
  label: string;
  /** Beginning of the value. */
  detail?: string;
  /** The variable with its braces. */
  apply: string;
}

const MOST = 50;
/** The limit on the searched parts of values, because each typed letter searches again. */
const MOST_SEEN = 20_000;

/** All typed words must occur in the labels and path of a variable, or all of them in its value. */
export function completionsFor(groups: readonly VariableGroup[], typed: string): Offered[] {
  return searchVariables(groups, typed, { found: MOST, seen: MOST_SEEN })
    .flatMap(({ heading, choices }) =>
      choices.map(({ label, text, value }) => ({
        label: `${heading} › ${label}`,
        apply: text,
        ...(value !== undefined && { detail: value }),
      })),
    )
    .slice(0, MOST);
}
