// Reads the parts of a variable's known value when a person opens the value, and searches the parts of all values, up
// to a limit.
import { cutText } from '../../graph/cut-text.js';
import { isContainer } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';
import { toPath } from './variable-path.js';
import type { VariableChoice, VariableGroup } from './variables.js';

const MOST_CHARACTERS = 80;

export function withValue(choice: VariableChoice, known: unknown): VariableChoice {
  return { ...choice, known, value: beginningOf(known) };
}

/** Returns the beginning of a value on one line. */
export function beginningOf(value: unknown): string {
  const line = lineOf(value, MOST_CHARACTERS);
  return line === '' ? '(empty)' : line;
}

/** Entries of one object or list that are written as JSON for a line. A whole value may have megabytes. */
const MOST_ENTRIES = 20;

export function lineOf(value: unknown, most: number): string {
  const text = typeof value === 'string' ? cutText(value, most * 10) : (JSON.stringify(shortened(value)) ?? '');
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > most ? `${cutText(line, most)}…` : line;
}

function shortened(value: unknown, depth = 3): unknown {
  if (typeof value === 'string') return cutText(value, 1_000);
  if (!isContainer(value)) return value;
  if (depth === 0) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) return value.slice(0, MOST_ENTRIES).map((item) => shortened(item, depth - 1));
  const entries = Object.entries(value).slice(0, MOST_ENTRIES);
  return Object.fromEntries(entries.map(([key, item]) => [key, shortened(item, depth - 1)]));
}

/** Returns the names of the parts of a choice's value. */
export function keysOf({ known, parts }: VariableChoice): string[] {
  const value = parts ?? known;
  return isContainer(value) ? Object.keys(value) : [];
}

/** Returns the parts from `from` up to `to`, each a variable of its own. */
export function partsOf(choice: VariableChoice, from = 0, to = Infinity): VariableChoice[] {
  const value = choice.parts ?? choice.known;
  if (!isContainer(value)) return [];
  const path = choice.root ?? pathOf(choice);
  return Object.keys(value)
    .slice(from, to)
    .map((key) => toPart(value, path, key));
}

function toPart(value: object, path: string, key: string): VariableChoice {
  const step = Array.isArray(value) ? `[${key}]` : toPath(key);
  const label = Array.isArray(value) ? step : key;
  return withValue({ label, text: `{{ ${path}${step} }}` }, (value as Record<string, unknown>)[key]);
}

/** Returns the text between the braces. */
function pathOf({ text }: VariableChoice): string {
  return text.slice(3, -3);
}

interface Limits {
  /** The number of choices to find. */
  found: number;
  /** The number of parts to check. */
  seen: number;
}

const SEARCH: Limits = { found: 200, seen: 200_000 };

/**
 * Returns the variables, at any depth, whose heading, label and path together contain each word, or whose value does.
 * The paths of all parts of a found variable contain the words as well, so a part is only found if its own name
 * contains a word, or if its value is no container and contains each word.
 */
export function searchVariables(
  groups: readonly VariableGroup[],
  typed: string,
  limits: Limits = SEARCH,
): VariableGroup[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...groups];
  const left = { ...limits };
  const found = groups.map((group) => ({
    ...group,
    choices: group.choices.flatMap((choice) => searchChoice(group.heading, choice, words, left)),
  }));
  return found.filter(({ choices }) => choices.length > 0);
}

interface Level {
  choice: VariableChoice;
  /** True if the choice, or one that encloses it, was found. The paths of all its parts then contain each word. */
  isFound: boolean;
  keys: readonly string[];
  at: number;
}

/** Iterative, because a deep value would overflow the stack. */
function searchChoice(heading: string, top: VariableChoice, words: readonly string[], left: Limits): VariableChoice[] {
  const found: VariableChoice[] = [];
  const place = (choice: VariableChoice): string => `${heading} ${top.label} ${choice.text}`.toLowerCase();
  const isTop = holdsAll(place(top), words) || (keysOf(top).length === 0 && holdsAll(valueOf(top), words));
  if (isTop && left.found > 0) {
    found.push(top);
    left.found -= 1;
  }
  const open: Level[] = [{ choice: top, isFound: isTop, keys: keysOf(top), at: 0 }];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const key = level.keys[level.at];
    if (key === undefined || left.found <= 0 || left.seen <= 0) {
      open.pop();
      continue;
    }
    const value = (level.choice.parts ?? level.choice.known) as object;
    const part = toPart(value, level.choice.root ?? pathOf(level.choice), key);
    level.at += 1;
    left.seen -= 1;
    const isOwn = !level.isFound || words.some((word) => key.toLowerCase().includes(word));
    const keys = keysOf(part);
    const isLeaf = keys.length === 0;
    const isFound = (isOwn && holdsAll(place(part), words)) || (isLeaf && holdsAll(valueOf(part), words));
    if (isFound) {
      found.push({ ...part, label: `${top.label} › ${relative(part, top)}` });
      left.found -= 1;
    }
    if (!isLeaf) open.push({ choice: part, isFound: level.isFound || isFound, keys, at: 0 });
  }
  return found;
}

/** Returns the path of a part within a choice: `orders[0].name`. */
function relative(part: VariableChoice, top: VariableChoice): string {
  return pathOf(part)
    .slice((top.root ?? pathOf(top)).length)
    .replace(/^\./, '');
}

function valueOf({ known }: VariableChoice): string {
  if (known === undefined || isContainer(known)) return '';
  return (typeof known === 'string' ? cutText(known, 10_000) : writeJson(known)).toLowerCase();
}

function holdsAll(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}
