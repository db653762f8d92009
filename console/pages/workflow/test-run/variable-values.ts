// The variables of a form with actual values.
import { createRenderer, findVariables, renderValue, type NodeOutput } from '../../../../graph/template.js';
import { parseContent, type LoopVariables, type NodeErrorFacts, type RunInput } from '../../../../graph/variable.js';
import { isContainer, ownValue } from '../../../../graph/json.js';
import { lineOf, withValue } from '../../../drawing/variable-tree.js';
import type { VariableChoice, VariableGroup } from '../../../drawing/variables.js';

/** Returns the value of a variable by its path (`[node, 'result', 'content']`), or undefined if unknown. */
export type ReadValue = (path: readonly string[]) => unknown;

/**
 * Adds the known value to each choice. The JSON of an answer comes first, because people mostly look for it. If a
 * result has no `json` but a `content` with JSON (`parseContent`), the choice of the content gets the parts of that
 * JSON, which variables can read like fields of the result.
 */
export function withValues(groups: readonly VariableGroup[], read: ReadValue): VariableGroup[] {
  return groups.map((group) => ({
    ...group,
    choices: group.choices
      .map((choice) => withKnown(choice, read))
      .toSorted((one, other) => Number(isJsonOf(other)) - Number(isJsonOf(one))),
  }));
}

function withKnown(choice: VariableChoice, read: ReadValue): VariableChoice {
  const path = readPath(choice.text);
  const value = read(path);
  if (value === undefined) return choice;
  const known = withValue(choice, value);
  const [node = '', field, key, ...rest] = path;
  if (field !== 'result' || key !== 'content' || rest.length > 0) return known;
  const result = read([node, 'result']);
  const parsed = ownValue(result, 'json') === undefined ? parsedText(value) : undefined;
  if (parsed === undefined) return known;
  const isFree = ([name]: [string, unknown]): boolean => ownValue(result, name) === undefined;
  const parts = Array.isArray(parsed) ? parsed : Object.fromEntries(Object.entries(parsed).filter(isFree));
  return { ...known, parts, root: `${node}.result` };
}

/** True for the field that holds an answer as JSON, if its value is known. */
function isJsonOf({ text, known }: VariableChoice): boolean {
  return known !== undefined && text.endsWith('.result.json }}');
}

/** Caches the texts that were parsed last, because a form reads its variables again for each typed letter. */
const parsedTexts = new Map<string, object | undefined>();
const MOST_TEXTS = 50;
const MOST_PARSED = 2_000_000;

function parsedText(value: unknown): object | undefined {
  if (typeof value !== 'string' || value.length > MOST_PARSED || !/[[{]/.test(value)) return undefined;
  if (!parsedTexts.has(value)) {
    if (parsedTexts.size >= MOST_TEXTS) parsedTexts.clear();
    parsedTexts.set(value, parseContent(value) as object | undefined);
  }
  return parsedTexts.get(value);
}

/** Returns the parts of a variable's path: `['a', 'result', 'b c']` for `{{ a.result["b c"] }}`. */
export function readPath(text: string): string[] {
  const parts = text.slice(3, -3).matchAll(/\["([^"]*)"\]|\['([^']*)'\]|\[(\d+)\]|([^.[\]]+)/g);
  return [...parts].map(([, double, single, index, name]) => double ?? single ?? index ?? name ?? '');
}

/** Rendering more characters would slow down typing. */
const MOST_RENDERED = 200_000;
const MOST_PREVIEWED = 200;
/** Placeholder for unknown values. */
const UNKNOWN = '…';

/**
 * Renders a value as a run would, with the known values, and cuts it to one line. Returns undefined if it has no
 * variable with a known value, or if the values of its variables exceed `MOST_RENDERED` characters.
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
