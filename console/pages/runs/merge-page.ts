// A page of a list that is looked at while it changes: rows stay where they are, and what is new waits to be asked for.

interface Page<Row> {
  items: readonly Row[];
}

export interface MergedPage<Row> {
  rows: readonly Row[];
  /** Rows of the fresh page that are not shown. */
  newCount: number;
}

/** The rows of `shown` as they are in `fresh` where it has them. Without `shown`, or from an empty page on: `fresh`. */
export function mergePage<Row extends { id: string }>(shown: Page<Row> | undefined, fresh: Page<Row>): MergedPage<Row> {
  if (shown === undefined || shown.items.length === 0) return { rows: fresh.items, newCount: 0 };
  const known = new Set(shown.items.map(({ id }) => id));
  const byId = new Map(fresh.items.map((row) => [row.id, row]));
  const rows = shown.items.map((row) => byId.get(row.id) ?? row);
  return { rows, newCount: fresh.items.filter(({ id }) => !known.has(id)).length };
}
