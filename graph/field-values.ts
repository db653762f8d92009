// Checks a number, a boolean or a choice in a field of a trigger or of a human task. Fields of other types accept any
// value here; acceptance/run-files.ts checks files.
import { ExactNumber } from './exact-number.js';
import { isObject, type JsonObject } from './json.js';
import { MASK } from './mask-text.js';

/** Forms send numbers as the text that was typed, including numbers that a double cannot hold. */
const NUMBER = /^\s*-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/;
const BOOLEAN = new Set<unknown>([true, false, 'true', 'false']);
const MAX_OPTIONS_SHOWN = 10;

/** Returns the error of a value that is not empty, or undefined if it is valid. */
export function wrongValue(field: JsonObject, value: unknown): string | undefined {
  const { type } = field;
  if (type === 'number') return isNumber(value) ? undefined : 'Input should be a valid number';
  if (type === 'boolean' || type === 'checkbox')
    return BOOLEAN.has(value) ? undefined : 'Input should be a valid boolean';
  if (type === 'select') return wrongChoice(field, value);
  return undefined;
}

function isNumber(value: unknown): boolean {
  if (typeof value === 'string') return NUMBER.test(value);
  return typeof value === 'number' || value instanceof ExactNumber;
}

/** A select without options accepts any value. */
function wrongChoice({ options }: JsonObject, value: unknown): string | undefined {
  const listed = Array.isArray(options) ? options.filter(isObject) : [];
  const choices = listed.flatMap((option) => textOf(option['value']) ?? []);
  const chosen = textOf(value);
  // The chosen value may be one of the masked options.
  if (choices.length === 0 || choices.includes(MASK)) return undefined;
  if (chosen !== undefined && choices.includes(chosen)) return undefined;
  const shown = choices.slice(0, MAX_OPTIONS_SHOWN).map((choice) => `'${choice}'`);
  const more = choices.length > shown.length ? ` or one of ${choices.length - shown.length} more` : '';
  return `Input should be ${shown.join(', ')}${more}`;
}

function textOf(value: unknown): string | undefined {
  const isText = ['string', 'number', 'boolean'].includes(typeof value) || value instanceof ExactNumber;
  return isText ? String(value) : undefined;
}
