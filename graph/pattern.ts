// Patterns of users, in RE2 syntax (https://github.com/google/re2/wiki/Syntax). A search costs at most pattern size
// times text length, which is bounded here. A user's pattern never becomes a `RegExp`.
import { RE2JS, RE2JSException } from 're2js';
import { spendBudget } from './check-budget.js';
import { NodeError } from './node-error.js';
import { patternSize } from './pattern-size.js';

const MAX_PATTERN_CHARACTERS = 1_000;
/** The limit on `patternSize`. `[a-z]{1000}` has 1,002 instructions. */
const MAX_INSTRUCTIONS = 2_000;
/**
 * Instructions of the pattern times characters of the text. In the worst case a step takes a tenth of a microsecond.
 */
const MAX_STEPS = 8_000_000;
const MAX_NODE_STEPS = 16_000_000;
/** The cost of compiling a Unicode class, in instructions. */
const UNICODE_CLASS_UNITS = 100;

export interface StepBudget {
  left: number;
}

export function nodeStepBudget(): StepBudget {
  return { left: MAX_NODE_STEPS };
}

/** The runs of a workflow use the same patterns. The cache is small, because a large pattern takes a megabyte. */
const MAX_CACHED = 32;
const cache = new Map<string, RE2JS>();

/**
 * True if the pattern matches anywhere in the text. Throws a `NodeError` with the code `invalid_pattern` if the pattern
 * is invalid or too large: by itself, for the text, or for the rest of the budget.
 */
export function matchesPattern(text: string, pattern: string, budget?: StepBudget): boolean {
  const compiled = compilePattern(pattern);
  const steps = compiled.programSize() * text.length;
  if (steps > MAX_STEPS) {
    const most = Math.floor(MAX_STEPS / compiled.programSize());
    throw invalid(`The pattern can search a text of at most ${most} characters, and this one has ${text.length}.`);
  }
  if (budget !== undefined && (budget.left -= steps) < 0) {
    throw invalid(`The patterns of a node may take ${MAX_NODE_STEPS} steps together, and these take more.`);
  }
  return compiled.matcher(text).find();
}

/** Returns an upper bound of the cost of compiling a pattern, in instructions. */
export function compileUnits(pattern: string): number {
  const classes = pattern.match(/\\[pP]/g)?.length ?? 0;
  return Math.max(pattern.length, patternSize(pattern)) + UNICODE_CLASS_UNITS * classes;
}

/**
 * Returns the field error of a literal pattern, or undefined if it is valid. Within `withCheckBudget`, patterns beyond
 * the budget are not compiled: an invalid one fails only when its node is executed.
 */
export function patternProblem(pattern: string): string | undefined {
  const tooLarge = sizeProblem(pattern);
  if (tooLarge !== undefined) return `Input should be a valid RE2 pattern: ${tooLarge}`;
  if (cache.has(pattern) || !spendBudget(compileUnits(pattern))) return undefined;
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return `Input should be a valid RE2 pattern: ${toReason(error.message)}`;
  }
}

/** Throws a `NodeError` with the code `invalid_pattern`. */
export function compilePattern(pattern: string): RE2JS {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const tooLarge = sizeProblem(pattern);
  if (tooLarge !== undefined) throw invalid(`${PREFIX}${tooLarge}.`);
  const compiled = compile(pattern);
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!);
  cache.set(pattern, compiled);
  return compiled;
}

const PREFIX = 'The pattern is not valid: ';

function toReason(message: string): string {
  return message.slice(PREFIX.length, -1);
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw invalid(`${PREFIX}${error.message.replace(/^error parsing regexp: /, '')}.`);
  }
}

function sizeProblem(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_CHARACTERS) return `it has more than ${MAX_PATTERN_CHARACTERS} characters`;
  return patternSize(pattern) > MAX_INSTRUCTIONS ? 'its repetitions make it too large' : undefined;
}

function invalid(message: string): NodeError {
  return new NodeError('invalid_pattern', message);
}
