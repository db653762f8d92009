// Finds the indexes that a statement cannot use if it is planned without its values. These are partial indexes, for
// example on the open rows of a table.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';

type Values = readonly unknown[];

/** From this call on, PostgreSQL plans a scan of a whole table only if there is no other plan. */
export async function avoidScans(client: pg.Client): Promise<void> {
  await client.query('SET enable_seqscan = off');
}

/**
 * Returns the partial indexes that the statement uses with these values, if a plan without values scans the whole
 * table.
 */
export async function lostIndexes(client: pg.Client, text: string, samples: readonly Values[]): Promise<string[]> {
  const scanned = named(await planOf(client, `EXPLAIN (GENERIC_PLAN) ${text}`), /Seq Scan on (\w+)/);
  if (scanned.length === 0) return [];
  const types = await typesOf(client, text);
  const { rows } = await client.query<{ name: string }>(
    'SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indpred IS NOT NULL AND indrelid = ANY ($1::text[]::regclass[])',
    [scanned],
  );
  const lost = new Set<string>();
  for (const values of samples) {
    const given = values.map((value, at) => fit(value, types[at]!));
    const used = named(await planOf(client, `EXPLAIN ${text}`, given), /(?:using|Bitmap Index Scan on) (\w+)/);
    for (const { name } of rows) if (used.includes(name)) lost.add(name);
  }
  return [...lost];
}

async function planOf(client: pg.Client, text: string, values?: unknown[]): Promise<string[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(text, values);
  return rows.map((row) => row['QUERY PLAN']);
}

function named(plan: string[], pattern: RegExp): string[] {
  return plan.flatMap((line) => pattern.exec(line)?.[1] ?? []);
}

async function typesOf(client: pg.Client, text: string): Promise<string[]> {
  await client.query(`PREPARE typed AS ${text}`);
  const { rows } = await client.query<{ types: string[] }>(
    "SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = 'typed'",
  );
  await client.query('DEALLOCATE typed');
  return rows[0]!.types;
}

/** Converts an invented value, which has the TypeScript type, to one that the database type accepts. */
function fit(value: unknown, type: string): unknown {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map((each) => fit(each, type.replace('[]', '')));
  if (type === 'uuid') return randomUUID();
  if (type.startsWith('json')) return '{}';
  return /int|numeric|double/.test(type) && Number.isNaN(Number(value)) ? 1 : value;
}
