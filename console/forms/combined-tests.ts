// Conditions of several tests in a form: lists `{all: [...]}` and `{any: [...]}` of tests and of further lists.
import { MAX_LISTS } from '../../graph/combined.js';
import { isObject, type JsonObject } from '../../graph/json.js';

export type ListName = 'all' | 'any';

interface TestList {
  name: ListName;
  items: readonly unknown[];
}

/** Returns undefined for a single test. */
export function listIn(condition: unknown): TestList | undefined {
  if (!isObject(condition)) return undefined;
  if (Array.isArray(condition['all'])) return { name: 'all', items: condition['all'] };
  return Array.isArray(condition['any']) ? { name: 'any', items: condition['any'] } : undefined;
}

/** False for a condition that the form of tests cannot show, such as one with both lists. */
export function isFormed(condition: unknown, lists = 0): boolean {
  if (condition === undefined) return lists === 0;
  if (!isObject(condition)) return false;
  const names = ['all', 'any'].filter((name) => Object.hasOwn(condition, name));
  if (names.length === 0) return true;
  const list = listIn(condition);
  if (list === undefined || names.length > 1 || lists === MAX_LISTS) return false;
  return list.items.every((item) => isFormed(item, lists + 1));
}

export function countTests(condition: unknown): number {
  const list = listIn(condition);
  return list === undefined ? 1 : list.items.reduce<number>((sum, item) => sum + countTests(item), 0);
}

/**
 * Adds a test, or with `isGroup` a new list that contains the test. A single test becomes a list. Without a condition,
 * the form shows an empty test, so `test` is also the first item.
 */
export function withTest(condition: unknown, test: JsonObject, isGroup = false): JsonObject {
  const { name, items } = listIn(condition) ?? { name: 'all', items: [condition ?? test] };
  const other: ListName = name === 'all' ? 'any' : 'all';
  return { [name]: [...items, isGroup ? { [other]: [test] } : test] };
}

/** Returns undefined if nothing is left. While an outermost list has only one item, this item replaces the list. */
export function withoutItem(condition: unknown, at: number, isOutermost: boolean): unknown {
  const list = listIn(condition);
  if (list === undefined) return undefined;
  const left = list.items.toSpliced(at, 1);
  if (left.length === 0) return undefined;
  const rest = { [list.name]: left };
  return isOutermost ? withoutListsOfOne(rest) : rest;
}

function withoutListsOfOne(condition: unknown): unknown {
  const items = listIn(condition)?.items;
  return items?.length === 1 ? withoutListsOfOne(items[0]) : condition;
}

/** Returns the path of the last test in a condition. */
export function pathOfLast(condition: unknown): (string | number)[] {
  const list = listIn(condition);
  if (list === undefined) return [];
  return [list.name, list.items.length - 1, ...pathOfLast(list.items.at(-1))];
}
