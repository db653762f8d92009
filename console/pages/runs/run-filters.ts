// Reads the filters of the list of runs from the address, and converts them to an address and to the service's query.
import { toStoredStatus, type StoredStatus } from '../../live/run-word.js';

/** All texts but `order` may be invalid, because they are copied from the address. */
export interface RunFilters {
  /** A word that `toStoredStatus` reads, such as `failed`; empty for any status. */
  status: string;
  /** `test` or `assistant`; empty for runs of workflows. */
  kind: string;
  /** Only runs that wait for a person. */
  waiting: boolean;
  project: string;
  workflow: string;
  search: string;
  /** Days (`2026-01-31`) in the person's time zone, or times with their offset. */
  from: string;
  to: string;
  /** `newest`, `oldest`, `dearest` or `cheapest`. */
  order: string;
  page: number;
}

type RunOrdering = 'created_at' | '-created_at' | 'cost' | '-cost';

interface RunsQuery {
  status?: StoredStatus;
  purpose?: 'test' | 'assistant';
  waiting?: true;
  project?: number;
  workflow?: number;
  search?: string;
  started_after?: string;
  started_before?: string;
  ordering: RunOrdering;
  page: number;
  size: number;
}

export const ORDERS: readonly { value: string; label: string; ordering: RunOrdering }[] = [
  { value: 'newest', label: 'Newest first', ordering: '-created_at' },
  { value: 'oldest', label: 'Oldest first', ordering: 'created_at' },
  { value: 'dearest', label: 'Most expensive first', ordering: '-cost' },
  { value: 'cheapest', label: 'Least expensive first', ordering: 'cost' },
];
export const PAGE_SIZE = 25;

const TEXTS = ['kind', 'status', 'project', 'workflow', 'search', 'from', 'to', 'order'] as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_FIRST = /^\d{4}-\d{2}-\d{2}/;
const ID = /^[1-9]\d{0,9}$/;

export function readFilters(params: URLSearchParams): RunFilters {
  const [kind, status, project, workflow, search, from, to, order] = TEXTS.map((name) => params.get(name) ?? '');
  const page = Number(params.get('page') ?? '1');
  return {
    kind: kind!,
    status: status!,
    waiting: params.get('waiting') === 'true',
    project: project!,
    workflow: workflow!,
    search: search!,
    from: from!,
    to: to!,
    order: ORDERS.some(({ value }) => value === order) ? order! : 'newest',
    page: Number.isSafeInteger(page) && page >= 1 && page <= 1_000_000 ? page : 1,
  };
}

/** Omits defaults to keep addresses short. */
export function toParams(filters: RunFilters): URLSearchParams {
  const params = new URLSearchParams();
  for (const name of TEXTS) {
    const isDefault = filters[name] === '' || (name === 'order' && filters.order === 'newest');
    if (!isDefault) params.set(name, filters[name]);
  }
  if (filters.waiting) params.set('waiting', 'true');
  if (filters.page > 1) params.set('page', String(filters.page));
  return params;
}

export function isFiltered(filters: RunFilters): boolean {
  return filters.waiting || TEXTS.some((name) => name !== 'order' && filters[name] !== '');
}

/**
 * True if the change comes from typing into the search field. The back button undoes choices, of which `Show all runs`
 * is one, but not typing.
 */
export function isTyped(change: Partial<RunFilters>): boolean {
  return Object.keys(change).join() === 'search';
}

/** Omits invalid values, for example from old addresses. */
export function toQuery(filters: RunFilters): RunsQuery {
  const status = toStoredStatus(filters.status);
  const after = toMoment(filters.from, 0);
  const before = toMoment(filters.to, 1);
  const search = filters.search.trim();
  return {
    ordering: ORDERS.find(({ value }) => value === filters.order)!.ordering,
    page: filters.page,
    size: PAGE_SIZE,
    ...(filters.kind === 'test' || filters.kind === 'assistant' ? { purpose: filters.kind } : {}),
    ...(status === undefined ? {} : { status }),
    ...(filters.waiting && { waiting: true }),
    ...(ID.test(filters.project) ? { project: Number(filters.project) } : {}),
    ...(ID.test(filters.workflow) ? { workflow: Number(filters.workflow) } : {}),
    ...(search === '' ? {} : { search }),
    ...(after === undefined ? {} : { started_after: after.toISOString() }),
    ...(before === undefined ? {} : { started_before: before.toISOString() }),
  };
}

/** Returns the local day (YYYY-MM-DD) of a day or a time, for a date field; empty for any other text. */
export function dayOf(text: string): string {
  const moment = toMoment(text, 0);
  if (moment === undefined) return '';
  if (DAY.test(text)) return text;
  const [month, day] = [moment.getMonth() + 1, moment.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${String(moment.getFullYear()).padStart(4, '0')}-${month}-${day}`;
}

/** For a day, returns the start of the day that is `daysLater` after it, in the person's time zone. */
function toMoment(text: string, daysLater: 0 | 1): Date | undefined {
  const moment = new Date(text);
  if (!DAY_FIRST.test(text) || Number.isNaN(moment.getTime())) return undefined;
  if (!DAY.test(text)) return moment;
  const [year, month, day] = text.split('-').map(Number);
  return new Date(year!, month! - 1, day! + daysLater);
}

// Merges updates into a shown page of a list without moving its rows. New rows are only counted: `RunsList` decides
// when they appear.

interface Page<Row> {
  items: readonly Row[];
}

interface MergedPage<Row> {
  rows: readonly Row[];
  /** Number of new rows that are hidden. */
  newCount: number;
}

/** Returns the rows of `shown`, updated from `fresh`. If nothing was shown, returns `fresh`. */
export function mergePage<Row extends { id: string }>(shown: Page<Row> | undefined, fresh: Page<Row>): MergedPage<Row> {
  if (shown === undefined || shown.items.length === 0) return { rows: fresh.items, newCount: 0 };
  const known = new Set(shown.items.map(({ id }) => id));
  const byId = new Map(fresh.items.map((row) => [row.id, row]));
  const rows = shown.items.map((row) => byId.get(row.id) ?? row);
  return { rows, newCount: fresh.items.filter(({ id }) => !known.has(id)).length };
}
