// The variables of a form with actual values.
import { createRenderer, findVariables, renderValue, type NodeOutput } from '../../../../graph/template.js';
import type { LoopVariables, NodeErrorFacts, RunInput } from '../../../../graph/variable.js';
import { cutText } from '../../../../graph/cut-text.js';
import { isContainer } from '../../../../graph/json.js';
import { toPath } from '../../../drawing/variable-path.js';
import type { VariableChoice, VariableGroup } from '../../../drawing/variables.js';

/** Returns the value of a variable by its path (`[node, 'result', 'content']`), or undefined if unknown. */
export type ReadValue = (path: readonly string[]) => unknown;

const MOST_PARTS = 12;
const DEEPEST = 3;
const MOST_CHARACTERS = 80;

/** Adds the beginning of its value to each choice, followed by choices for the parts of the value. */
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

/** Returns the parts of a variable's path: `['a', 'result', 'b c']` for `{{ a.result["b c"] }}`. */
export function readPath(text: string): string[] {
  const parts = text.slice(3, -3).matchAll(/\["([^"]*)"\]|\['([^']*)'\]|\[(\d+)\]|([^.[\]]+)/g);
  return [...parts].map(([, double, single, index, name]) => double ?? single ?? index ?? name ?? '');
}

function partsOf(choice: VariableChoice, value: unknown): VariableChoice[] {
  const found: VariableChoice[] = [];
  const look = (within: unknown, label: string, path: string, depth: number): void => {
    if (!isContainer(within) || depth === DEEPEST) return;
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

/** Rendering more characters would slow down typing. */
const MOST_RENDERED = 200_000;
const MOST_PREVIEWED = 200;
/** Placeholder for unknown values. */
const UNKNOWN = '…';

/**
 * Renders a value as a run would, with the known values, and cuts it to one line. Returns undefined if it has no
 * variable with a known value.
 */
export function previewOf(value: unknown, read: ReadValue): string | undefined {
  const results = new Map<string, NodeOutput>();
  const errors = new Map<string, NodeErrorFacts>();
  const loops = new Map<string, LoopVariables>();
  const leftOut = new Map<string, string>();
  let isKnown = false;
  const take = <T>(map: Map<string, T>, id: string, known: unknown, otherwise?: T): void => {
    if (known !== undefined) isKnown = true;
    const usable = isContainer(known) ? (known as T) : otherwise;
    if (usable !== undefined) map.set(id, usable);
  };
  for (const variable of findVariables(value)) {
    if (variable.source === 'input') isKnown ||= isContainer(read(['input']));
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
    // The renderer only throws above its limit. A text that long has no useful preview.
    return undefined;
  }
}
