// The variables of the picker with their real values.
import { isStructure } from '../../drawing/json.js';
import { toPath, type VariableChoice, type VariableGroup } from '../../drawing/variables.js';

/** Returns the value of a variable by its path (`[node, 'result', 'content']`), or undefined where none is known. */
export type ReadValue = (path: readonly string[]) => unknown;

const MOST_PARTS = 12;
const DEEPEST = 3;
const MOST_CHARACTERS = 80;

/** Returns the choices with the beginnings of their values, each followed by the parts of its value. */
export function withValues(groups: readonly VariableGroup[], read: ReadValue): VariableGroup[] {
  return groups.map(({ heading, choices }) => ({
    heading,
    choices: choices.flatMap((choice) => {
      const value = read(readPath(choice.text));
      if (value === undefined) return [choice];
      return [{ ...choice, value: beginningOf(value) }, ...partsOf(choice, value)];
    }),
  }));
}

/** Returns the parts of the path of a variable: `{{ a.result["b c"] }}` has `a`, `result` and `b c`. */
export function readPath(text: string): string[] {
  const parts = text.slice(3, -3).matchAll(/\["([^"]*)"\]|\['([^']*)'\]|\[(\d+)\]|([^.[\]]+)/g);
  return [...parts].map(([, double, single, index, name]) => double ?? single ?? index ?? name ?? '');
}

/** Returns the variables of the parts of a value that is an object or a list. */
function partsOf(choice: VariableChoice, value: unknown): VariableChoice[] {
  const found: VariableChoice[] = [];
  const look = (within: unknown, label: string, path: string, depth: number): void => {
    if (!isStructure(within) || depth === DEEPEST) return;
    for (const [key, part] of Object.entries(within)) {
      if (found.length === MOST_PARTS) return;
      const at = Array.isArray(within) ? `${path}[${key}]` : `${path}${toPath(key)}`;
      const named = `${label} › ${key}`;
      found.push({ label: named, text: `{{ ${at} }}`, value: beginningOf(part) });
      look(part, named, at, depth + 1);
    }
  };
  look(value, choice.label, choice.text.slice(3, -3), 0);
  return found;
}

function beginningOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line === '') return '(empty)';
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}
