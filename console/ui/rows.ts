// Lists of objects as tables.
import { isContainer, isObject } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';

export interface DataTable {
  /** The keys from the value to the list. */
  path: readonly string[];
  rows: readonly Readonly<Record<string, unknown>>[];
  columns: readonly string[];
}

const MAX_DEPTH = 3;

/**
 * Returns the lists of objects in a value, at most `MAX_DEPTH` keys deep and not inside other lists. The lists in an
 * object come before those in its inner objects.
 */
export function tablesIn(value: unknown, path: readonly string[] = []): DataTable[] {
  if (!isContainer(value) || path.length > MAX_DEPTH) return [];
  if (Array.isArray(value)) {
    const columns = columnsOf(value);
    return columns === undefined ? [] : [{ path, rows: value as DataTable['rows'], columns }];
  }
  const entries = Object.entries(value);
  const lists = entries.filter(([, item]) => Array.isArray(item));
  const objects = entries.filter(([, item]) => isObject(item));
  return [...lists, ...objects].flatMap(([key, item]) => tablesIn(item, [...path, key]));
}

/** Returns the parts of a value that none of its tables shows: the whole value if there is no table. */
export function partsOutsideTables(
  value: unknown,
  path: readonly string[] = [],
): { path: readonly string[]; value: unknown }[] {
  if (tablesIn(value, path).length === 0) return [{ path, value }];
  return isObject(value)
    ? Object.entries(value).flatMap(([key, item]) => partsOutsideTables(item, [...path, key]))
    : [];
}

/**
 * Returns the keys of the objects in the order of their first appearance; undefined if an item is no object, or there
 * is no key.
 */
function columnsOf(list: readonly unknown[]): string[] | undefined {
  if (list.length === 0 || !list.every((item) => isObject(item))) return undefined;
  const columns = new Set<string>();
  for (const item of list) for (const key of Object.keys(item)) columns.add(key);
  return columns.size === 0 ? undefined : [...columns];
}

/** Returns a cell as text: JSON for objects and arrays, empty for null and missing values. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : writeJson(value);
}

export interface Sorting {
  /** The heading of the column. */
  column: string;
  isDescending: boolean;
}

/** Returns positions in the list. Numbers sort as numbers, others as text; empty and missing values come last. */
export function sortedPositions({ rows }: DataTable, sorting: Sorting | undefined): number[] {
  const positions = rows.map((_, at) => at);
  if (sorting === undefined) return positions;
  const { column, isDescending } = sorting;
  const keys = rows.map((row) => {
    const text = Object.hasOwn(row, column) ? cellText(row[column]) : '';
    return { text, number: text === '' ? Number.NaN : Number(text) };
  });
  const sign = isDescending ? -1 : 1;
  return positions.toSorted((one, other) => {
    const [left, right] = [keys[one]!, keys[other]!];
    if (left.text === '' || right.text === '') return Number(left.text === '') - Number(right.text === '');
    return sign * compare(left, right) || one - other;
  });
}

interface SortKey {
  text: string;
  /** NaN if the text is empty or no number. */
  number: number;
}

/** Created once, because creating a collator costs more than a comparison. */
const COLLATOR = new Intl.Collator(undefined, { numeric: true });

function compare(left: SortKey, right: SortKey): number {
  const areNumbers = Number.isFinite(left.number) && Number.isFinite(right.number);
  return areNumbers ? left.number - right.number : COLLATOR.compare(left.text, right.text);
}

/** Spreadsheets execute a cell that begins with one of these characters as a formula, unless it is a number. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Returns the table as CSV. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export function toCsv(table: DataTable, positions: readonly number[]): string {
  const lines = [
    table.columns,
    ...positions.map((at) => table.columns.map((column) => cellOf(table.rows[at]!, column))),
  ];
  return lines.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('');
}

function cellOf(row: Readonly<Record<string, unknown>>, column: string): string {
  return Object.hasOwn(row, column) ? cellText(row[column]) : '';
}

function toCell(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
