// EXPLAIN ANALYZE of every statement behind the pages of the catalog and the marketplace, as Markdown on standard
// output: `npx tsx bench/explain-catalog.ts --user N` with DATABASE_URL of a database that seed-workflows.ts filled.
import { parseArgs } from 'node:util';
import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely';
import pg from 'pg';
import { findCatalogWorkflow, listCatalog, type CatalogQuery } from '../db/workflows/catalog-repository.js';
import type { Db } from '../db/core/client.js';
import {
  findMarketplaceWorkflow,
  listMarketplace,
  type MarketplaceQuery,
} from '../db/marketplace/marketplace-repository.js';
import type { Tables } from '../db/core/tables.js';

const { values } = parseArgs({ options: { user: { type: 'string' }, plans: { type: 'boolean', default: false } } });
const userId = Number(values.user);

const everything = { categories: undefined, subcategories: undefined, languages: undefined, limit: 10, offset: 0 };
const catalog: CatalogQuery = {
  ...everything,
  reach: { userId },
  search: undefined,
  titleContains: undefined,
  projectId: undefined,
  isOwn: false,
  ordering: '-created_at',
};
const market: MarketplaceQuery = {
  ...everything,
  reach: { userId },
  titleContains: undefined,
  publishedFrom: undefined,
  publishedBefore: undefined,
  ordering: undefined,
};

interface Measured {
  plan: string;
  planningMs: number;
  executionMs: number;
}

type Page = [name: string, read: (db: Db) => Promise<unknown>];

const pages: Page[] = [
  ['all-workflows', (db) => listCatalog(db, catalog)],
  ['all-workflows ?ordering=-last_run_at', (db) => listCatalog(db, { ...catalog, ordering: '-last_run_at' })],
  [
    'all-workflows ?ordering=total_cost&size=100&page=50',
    (db) => listCatalog(db, { ...catalog, ordering: 'total_cost', limit: 100, offset: 4900 }),
  ],
  ['all-workflows ?search=abc', (db) => listCatalog(db, { ...catalog, search: 'abc' })],
  [
    'all-workflows ?title__icontains=abc&own_scripts=true',
    (db) => listCatalog(db, { ...catalog, titleContains: 'abc', isOwn: true }),
  ],
  [
    'all-workflows ?categories=1&categories=2&languages=en,de',
    (db) => listCatalog(db, { ...catalog, categories: [1, 2], languages: ['en', 'de'] }),
  ],
  ['all-workflows/{id}', (db) => findCatalogWorkflow(db, 1, { userId })],
  ['marketplace', (db) => listMarketplace(db, market)],
  [
    'marketplace, anonymous, ?size=100&page=50',
    (db) => listMarketplace(db, { ...market, reach: undefined, limit: 100, offset: 4900 }),
  ],
  ['marketplace ?ordering=-total_cost', (db) => listMarketplace(db, { ...market, ordering: '-total_cost' })],
  ['marketplace ?ordering=last_run_at', (db) => listMarketplace(db, { ...market, ordering: 'last_run_at' })],
  [
    'marketplace ?search=abc&ordering=-created_at',
    (db) => listMarketplace(db, { ...market, titleContains: 'abc', ordering: '-created_at' }),
  ],
  [
    'marketplace ?subcategories=22&languages=en&..._after=...',
    (db) => listMarketplace(db, { ...market, subcategories: [22], languages: ['en'], publishedFrom: new Date(0) }),
  ],
  ['marketplace/{slug}', (db) => findMarketplaceWorkflow(db, 'bench-2', { userId })],
];

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 1 });
const statements: CompiledQuery[] = [];
const db = new Kysely<Tables>({
  dialect: new PostgresDialect({ pool }),
  log({ query }) {
    statements.push(query);
  },
});

const ROUNDS = 9;
console.log('| page | statement | planning ms | execution ms | slowest |\n| --- | --- | --- | --- | --- |');
const plans: string[] = [];
for (const [name, read] of pages) {
  statements.length = 0;
  await read(db);
  for (const [index, { sql, parameters }] of [...statements].entries()) {
    const measured: Measured[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, BUFFERS) ${sql}`, [...parameters]);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      measured.push({ plan, planningMs: timeOf(plan, 'Planning'), executionMs: timeOf(plan, 'Execution') });
    }
    measured.sort((left, right) => left.executionMs - right.executionMs);
    const median = measured[(ROUNDS - 1) / 2]!;
    const times = [median.planningMs, median.executionMs, measured.at(-1)!.executionMs].map((time) => time.toFixed(1));
    console.log(`| ${[name, index + 1, ...times].join(' | ')} |`);
    plans.push(`### ${name}, statement ${index + 1}\n\n\`\`\`\n${sql}\n\n${median.plan}\n\`\`\`\n`);
  }
}
if (values.plans) console.log(`\n${plans.join('\n')}`);
await db.destroy();

function timeOf(plan: string, phase: 'Planning' | 'Execution'): number {
  return Number(new RegExp(`${phase} Time: ([\\d.]+)`).exec(plan)?.[1]);
}
