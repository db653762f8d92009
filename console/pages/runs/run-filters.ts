// The filters of the list of runs as they stand in the address, and as the service takes them.
import { toStoredStatus, type StoredStatus } from '../../live/run-word.js';

export interface RunFilters {
  /** A word of the console, such as `failed`, or an empty text. */
  status: string;
  project: string;
  workflow: string;
  search: string;
  /** Days (`2026-01-31`) in the person's own time zone, or moments with their offset. */
  from: string;
  to: string;
  /** One of `newest`, `oldest`, `dearest` and `cheapest`. */
  order: string;
  page: number;
}

type RunOrdering = 'created_at' | '-created_at' | 'cost' | '-cost';

interface RunsQuery {
  status?: StoredStatus;
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

const TEXTS = ['status', 'project', 'workflow', 'search', 'from', 'to', 'order'] as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const ID = /^[1-9]\d{0,9}$/;

export function readFilters(params: URLSearchParams): RunFilters {
  const [status, project, workflow, search, from, to, order] = TEXTS.map((name) => params.get(name) ?? '');
  const page = Number(params.get('page') ?? '1');
  return {
    status: status!,
    project: project!,
    workflow: workflow!,
    search: search!,
    from: from!,
    to: to!,
    order: ORDERS.some(({ value }) => value === order) ? order! : 'newest',
    page: Number.isSafeInteger(page) && page >= 1 && page <= 1_000_000 ? page : 1,
  };
}

/** Defaults are left out, so that an address names its filters and nothing else. */
export function toParams(filters: RunFilters): URLSearchParams {
  const params = new URLSearchParams();
  for (const name of TEXTS) {
    const isDefault = filters[name] === '' || (name === 'order' && filters.order === 'newest');
    if (!isDefault) params.set(name, filters[name]);
  }
  if (filters.page > 1) params.set('page', String(filters.page));
  return params;
}

export function isFiltered(filters: RunFilters): boolean {
  return TEXTS.some((name) => name !== 'order' && filters[name] !== '');
}

/** A text that is no value of its filter, as an old address may hold, is left out. */
export function toQuery(filters: RunFilters): RunsQuery {
  const status = toStoredStatus(filters.status);
  const after = toMoment(filters.from, 0);
  const before = toMoment(filters.to, 1);
  const search = filters.search.trim();
  return {
    ordering: ORDERS.find(({ value }) => value === filters.order)!.ordering,
    page: filters.page,
    size: PAGE_SIZE,
    ...(status === undefined ? {} : { status }),
    ...(ID.test(filters.project) ? { project: Number(filters.project) } : {}),
    ...(ID.test(filters.workflow) ? { workflow: Number(filters.workflow) } : {}),
    ...(search === '' ? {} : { search }),
    ...(after === undefined ? {} : { started_after: after }),
    ...(before === undefined ? {} : { started_before: before }),
  };
}

/** Returns the day for the field of a date, of a day or of a moment. */
export function dayOf(text: string): string {
  return DAY.test(text.slice(0, 10)) ? text.slice(0, 10) : '';
}

/** Returns the beginning of a day in the person's time zone, or of the day after. A moment stays as it is. */
function toMoment(text: string, daysLater: 0 | 1): string | undefined {
  if (dayOf(text) === '') return undefined;
  const [year, month, day] = text.split('-').map(Number);
  const moment = DAY.test(text) ? new Date(year!, month! - 1, day! + daysLater) : new Date(text);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}

// A page of a list that is looked at while it changes. Rows stay where they are, and new ones wait to be asked for.

interface Page<Row> {
  items: readonly Row[];
}

interface MergedPage<Row> {
  rows: readonly Row[];
  /** The number of rows of the fresh page that are not shown. */
  newCount: number;
}

/** Returns the rows of `shown`, in the state of `fresh` if it has them. If nothing was shown, it returns `fresh`. */
export function mergePage<Row extends { id: string }>(shown: Page<Row> | undefined, fresh: Page<Row>): MergedPage<Row> {
  if (shown === undefined || shown.items.length === 0) return { rows: fresh.items, newCount: 0 };
  const known = new Set(shown.items.map(({ id }) => id));
  const byId = new Map(fresh.items.map((row) => [row.id, row]));
  const rows = shown.items.map((row) => byId.get(row.id) ?? row);
  return { rows, newCount: fresh.items.filter(({ id }) => !known.has(id)).length };
}
