// The variables of a form with their real values.
import { createRenderer, findVariables, renderValue, type NodeOutput } from '../../../../graph/template.js';
import type { LoopVariables, NodeErrorFacts, RunInput } from '../../../../graph/variable.js';
import { cutText } from '../../../../graph/cut-text.js';
import { isStructure } from '../../../ui/json.js';
import { toPath } from '../../../drawing/variable-path.js';
import type { VariableChoice, VariableGroup } from '../../../drawing/variables.js';

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
  const line = lineOf(value, MOST_CHARACTERS);
  return line === '' ? '(empty)' : line;
}

function lineOf(value: unknown, most: number): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > most ? `${cutText(line, most)}…` : line;
}

/** A preview of more characters would take time with each letter. */
const MOST_RENDERED = 200_000;
const MOST_PREVIEWED = 200;
/** Stands for a value that nobody knows yet. */
const UNKNOWN = '…';

/**
 * Returns a value as a run would render it with the values that are known, on one line and cut off; undefined if it
 * holds no variable whose value is known.
 */
export function previewOf(value: unknown, read: ReadValue): string | undefined {
  const results = new Map<string, NodeOutput>();
  const errors = new Map<string, NodeErrorFacts>();
  const loops = new Map<string, LoopVariables>();
  const leftOut = new Map<string, string>();
  let isKnown = false;
  const take = <T>(map: Map<string, T>, id: string, known: unknown, otherwise?: T): void => {
    if (known !== undefined) isKnown = true;
    const taken = isStructure(known) ? (known as T) : otherwise;
    if (taken !== undefined) map.set(id, taken);
  };
  for (const variable of findVariables(value)) {
    if (variable.source === 'input') isKnown ||= isStructure(read(['input']));
    else if (variable.source === 'error') take(errors, variable.nodeId, read([variable.nodeId, 'error']));
    else if (variable.source === 'loop') loops.set(variable.nodeId, { index: 0, item: UNKNOWN, last: UNKNOWN });
    else if (variable.source === 'node') {
      take(results, variable.nodeId, read([variable.nodeId, 'result']));
      leftOut.set(variable.nodeId, UNKNOWN);
    }
  }
  if (!isKnown) return undefined;
  const input = (read(['input']) ?? {}) as RunInput;
  const renderer = createRenderer({ input, results, errors, loops, leftOut }, MOST_RENDERED);
  try {
    return lineOf(renderValue(value, renderer), MOST_PREVIEWED);
  } catch {
    // The limit alone is thrown. A longer text tells nothing more in one line.
    return undefined;
  }
}
