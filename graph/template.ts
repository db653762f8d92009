// Texts with variables in double braces (specification, "Input variables"; decisions, section 5).
import { leavesOf, mapLeaves } from './json.js';
import { NodeError } from './node-error.js';
import { writeJson } from './json-text.js';
import { parseVariable, resolveVariable, type Scope, type Variable } from './variable.js';

export type { NodeOutput, PathPart, RunInput, Scope, Variable } from './variable.js';

/** Upper bound of what one call may render, in characters: a few kilobytes of variables can name terabytes. */
export const MAX_RENDERED_CHARACTERS = 32 * 1024 * 1024;

/** What was rendered exceeds MAX_RENDERED_CHARACTERS: the only error that rendering throws. */
export class RenderedTooLargeError extends NodeError {
  override readonly name = 'RenderedTooLargeError';

  constructor(message: string) {
    super('rendered_too_large', message);
  }
}

export interface Expression {
  /** The text between the braces. */
  expression: string;
  /** Undefined where the text is no variable. */
  variable: Variable | undefined;
}

interface Span {
  start: number;
  end: number;
  expression: string;
}

/** Every complete `{{ ... }}` of a text from left to right, the innermost braces where they are nested. Linear. */
function* spansOf(text: string): Generator<Span> {
  let cursor = 0;
  for (;;) {
    const open = text.indexOf('{{', cursor);
    const close = open < 0 ? -1 : text.indexOf('}}', open + 2);
    if (close < 0) return;
    // `{{ {{ a }}` and `{{{ a }}`: what opens last is what closes here.
    const start = text.lastIndexOf('{{', close - 2);
    cursor = close + 2;
    yield { start, end: cursor, expression: text.slice(start + 2, close) };
  }
}

/** Every expression in the strings of a value, parsed; `variable` is undefined where the text is no variable. */
export function* findExpressions(value: unknown): Generator<Expression> {
  for (const leaf of leavesOf(value)) {
    if (typeof leaf !== 'string') continue;
    for (const { expression } of spansOf(leaf)) yield { expression, variable: parseVariable(expression) };
  }
}

/** Every variable in the strings of a value (not in its keys). */
export function findVariables(value: unknown): Variable[] {
  return Array.from(findExpressions(value), ({ variable }) => variable ?? []).flat();
}

/** Fills in the variables of a text; a missing or unknown one is empty. What was filled in is not rendered again. */
export function renderText(text: string, scope: Scope): string {
  return createRenderer(scope).text(text);
}

/** Fills in every string of a JSON value; a string that is exactly one variable takes the variable's JSON type. */
export function renderJson(value: unknown, scope: Scope): unknown {
  const renderer = createRenderer(scope);
  return mapLeaves(value, (leaf) => (typeof leaf === 'string' ? renderer.value(leaf) : leaf));
}

interface Renderer {
  text(template: string): string;
  value(template: string): unknown;
}

function createRenderer(scope: Scope): Renderer {
  const jsonTexts = new Map<object, string>();
  let rendered = 0;
  const count = (text: string): string => {
    rendered += text.length;
    if (rendered <= MAX_RENDERED_CHARACTERS) return text;
    throw new RenderedTooLargeError(`The filled-in variables exceed ${MAX_RENDERED_CHARACTERS} characters.`);
  };
  const toText = (value: unknown): string => {
    if (value === undefined || value === null) return '';
    if (typeof value === 'string') return count(value);
    if (typeof value !== 'object') return count(jsonText(value));
    let text = jsonTexts.get(value);
    if (text === undefined) jsonTexts.set(value, (text = jsonText(value)));
    return count(text);
  };
  const resolve = (span: Span): unknown => {
    const variable = parseVariable(span.expression);
    return variable && resolveVariable(variable, scope);
  };
  const text = (template: string): string => {
    const parts: string[] = [];
    let cursor = 0;
    for (const span of spansOf(template)) {
      parts.push(template.slice(cursor, span.start), toText(resolve(span)));
      cursor = span.end;
    }
    return cursor === 0 ? template : parts.join('') + template.slice(cursor);
  };
  const value = (template: string): unknown => {
    const first = spansOf(template).next().value;
    if (first?.start !== 0 || first.end !== template.length) return text(template);
    const resolved = resolve(first);
    // Counted like text, since it is written as JSON sooner or later; what cannot be written is as good as missing.
    if (resolved === null) return null;
    return toText(resolved) === '' ? '' : resolved;
  };
  return { text, value };
}

/** Empty for what JSON cannot say: nested too deeply or too long for one string. */
function jsonText(value: unknown): string {
  try {
    return writeJson(value);
  } catch {
    return '';
  }
}
