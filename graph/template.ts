// Texts with variables in double braces (docs/use/interface-notes/graphs.md).
import { leavesOf, mapLeaves } from './json.js';
import { NodeError } from './node-error.js';
import { writeJsonOrNothing } from './json-text.js';
import { parseVariable, resolveVariable, type VariableValues, type Variable } from './variable.js';

export type { NodeOutput, Variable, VariableValues } from './variable.js';

/**
 * The default limit on the characters of filled-in variables of one renderer, because a few kilobytes of variables can
 * expand to terabytes.
 */
const MAX_RENDERED_CHARACTERS = 32 * 1024 * 1024;

/** The filled-in variables exceed the limit of their renderer. Rendering throws no other error. */
export class RenderedTooLargeError extends NodeError {
  override readonly name = 'RenderedTooLargeError';

  constructor(message: string) {
    super('rendered_too_large', message);
  }
}

interface Expression {
  expression: string;
  /** Undefined if the text is not a variable. */
  variable: Variable | undefined;
}

export interface Span {
  start: number;
  end: number;
  expression: string;
}

/** Yields every complete `{{ ... }}` of a text from left to right; of nested braces, the innermost. Linear time. */
export function* spansOf(text: string): Generator<Span> {
  let cursor = 0;
  for (;;) {
    const open = text.indexOf('{{', cursor);
    const close = open < 0 ? -1 : text.indexOf('}}', open + 2);
    if (close < 0) return;
    // The last opening braces belong to the closing ones, for example in `{{ {{ a }}` and `{{{ a }}`.
    const start = text.lastIndexOf('{{', close - 2);
    cursor = close + 2;
    yield { start, end: cursor, expression: text.slice(start + 2, close) };
  }
}

/** Replaces each `{{ ... }}` for whose expression `replace` returns a text. Linear time. */
export function replaceSpans(text: string, replace: (expression: string) => string | undefined): string {
  let replaced = '';
  let cursor = 0;
  for (const { start, end, expression } of spansOf(text)) {
    const by = replace(expression);
    if (by === undefined) continue;
    replaced += text.slice(cursor, start) + by;
    cursor = end;
  }
  return replaced + text.slice(cursor);
}

/** Yields every expression in the strings of a value. */
export function* findExpressions(value: unknown): Generator<Expression> {
  for (const leaf of leavesOf(value)) {
    if (typeof leaf !== 'string') continue;
    for (const { expression } of spansOf(leaf)) yield { expression, variable: parseVariable(expression) };
  }
}

/** Returns the pieces of a text outside `{{ ... }}`, from left to right. */
export function textOutsideOf(text: string): string[] {
  const pieces: string[] = [];
  let cursor = 0;
  for (const { start, end } of spansOf(text)) {
    pieces.push(text.slice(cursor, start));
    cursor = end;
  }
  return [...pieces, text.slice(cursor)];
}

/** Returns the variables in the strings of a value. The keys of objects are not searched. */
export function findVariables(value: unknown): Variable[] {
  return Array.from(findExpressions(value), ({ variable }) => variable ?? []).flat();
}

/** True if rendering would fill in anything. Braces around other text are not variables. */
export function hasVariables(value: unknown): boolean {
  for (const { variable } of findExpressions(value)) if (variable !== undefined) return true;
  return false;
}

/**
 * Fills in the variables of a text. A variable without a value becomes empty; braces around other text stay as typed.
 * Inserted values are not rendered again.
 */
export function renderText(text: string, values: VariableValues): string {
  return createRenderer(values).text(text);
}

/** Fills in every string of a JSON value. A string that is exactly one variable gets the variable's JSON type. */
export function renderJson(value: unknown, values: VariableValues): unknown {
  return renderValue(value, createRenderer(values));
}

/** `renderJson` with the caller's renderer, which may have its own limit. */
export function renderValue(value: unknown, renderer: Renderer): unknown {
  return mapLeaves(value, (leaf) => (typeof leaf === 'string' ? renderer.value(leaf) : leaf));
}

export interface Renderer {
  text(template: string): string;
  /** Works like `text`, except that a template that is exactly one variable with a value gives that value as JSON. */
  value(template: string): unknown;
}

/** `maxCharacters` limits the characters of filled-in variables over all calls of the renderer. */
export function createRenderer(values: VariableValues, maxCharacters: number = MAX_RENDERED_CHARACTERS): Renderer {
  const jsonTexts = new Map<object, string>();
  let rendered = 0;
  const count = (text: string): string => {
    rendered += text.length;
    if (rendered <= maxCharacters) return text;
    throw new RenderedTooLargeError(`The filled-in variables exceed ${maxCharacters} characters.`);
  };
  const toText = (value: unknown): string => {
    if (value === undefined || value === null) return '';
    if (typeof value === 'string') return count(value);
    if (typeof value !== 'object') return count(writeJsonOrNothing(value));
    let text = jsonTexts.get(value);
    if (text === undefined) jsonTexts.set(value, (text = writeJsonOrNothing(value)));
    return count(text);
  };
  const text = (template: string): string => {
    const parts: string[] = [];
    let cursor = 0;
    for (const { start, end, expression } of spansOf(template)) {
      const variable = parseVariable(expression);
      if (variable === undefined) continue;
      parts.push(template.slice(cursor, start), toText(resolveVariable(variable, values)));
      cursor = end;
    }
    return cursor === 0 ? template : parts.join('') + template.slice(cursor);
  };
  const value = (template: string): unknown => {
    const first = spansOf(template).next().value;
    const variable = first?.start === 0 && first.end === template.length ? parseVariable(first.expression) : undefined;
    if (variable === undefined) return text(template);
    const resolved = resolveVariable(variable, values);
    // Count the value like text, because it is later written as JSON. A value that cannot be written counts as missing.
    if (resolved === null) return null;
    return toText(resolved) === '' ? '' : resolved;
  };
  return { text, value };
}
