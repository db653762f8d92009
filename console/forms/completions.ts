// The variables that are offered behind `{{`.
import type { VariableGroup } from '../drawing/variables.js';

interface OpenVariable {
  /** The place of the opening braces. */
  start: number;
  /** The place behind the closing braces, or the caret where they are missing. */
  end: number;
  /** The text from the braces to the caret. */
  typed: string;
}

/** Nobody writes a longer one by hand. */
const LONGEST = 200;

/** Returns the variable that is being written at the caret: the braces before it are not closed before it. */
export function openVariable(text: string, caret: number): OpenVariable | undefined {
  const before = text.slice(Math.max(0, caret - LONGEST), caret);
  const braces = before.lastIndexOf('{{');
  if (braces < 0) return undefined;
  const typed = before.slice(braces + 2);
  if (/[{}\n]/.test(typed)) return undefined;
  // A quote belongs to the JSON around the variable, and its braces do, too.
  const rest = /^[^{}"\n]{0,200}\}\}/.exec(text.slice(caret, caret + LONGEST))?.[0] ?? '';
  return { start: caret - typed.length - 2, end: caret + rest.length, typed: typed.trim() };
}

interface Offered {
  /** The node and the name in words. */
  label: string;
  /** The beginning of the value. */
  detail?: string;
  /** The variable with its braces. */
  apply: string;
}

const MOST = 50;

/** Every word that is typed must be in the name of the node, in the name of the variable or in its source. */
export function completionsFor(groups: readonly VariableGroup[], typed: string): Offered[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return groups
    .flatMap(({ heading, choices }) =>
      choices.map(({ label, text, value }) => ({
        label: `${heading} › ${label}`,
        apply: text,
        ...(value !== undefined && { detail: value }),
      })),
    )
    .filter(({ label, apply }) => words.every((word) => `${label} ${apply}`.toLowerCase().includes(word)))
    .slice(0, MOST);
}
