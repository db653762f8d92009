import assert from 'node:assert/strict';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { leaveModelCalls } from '../../support/shared-stack.js';
import { createMigratedDatabase } from '../migrated-database.js';
import { describeDatabase, type DescribedDatabase, type Described } from './described-database.js';
import { createSampler } from './sample-values.js';
import {
  readSources,
  ROOT,
  symbolOf,
  type ExportedFunction,
  type Kind,
  type Site,
  type Sources,
} from './statement-sites.js';

/**
 * Files that are left out: their functions do not take a pool or a transaction, do not run while the service works
 * (migrations), or read from a cursor, which exists only during the read.
 */
const LEFT_OUT = /^db\/(migrations\/|schema\/|core\/(listener|client|statement|text-pieces)\.ts)/;

/**
 * The number of calls of each function, each with other arguments and answers. Further calls follow, up to the maximum,
 * until every statement was reached.
 */
const CALLS = 8;
const MOST_CALLS = 300;

describe('the statements of db/', function () {
  this.timeout(400_000);
  let sources: Sources;
  let own: Awaited<ReturnType<typeof createMigratedDatabase>>;
  let database: DescribedDatabase;
  const siteAt = new Map<string, Site>();
  const described = new Map<Site, Described[]>();

  let backToModelCalls: () => Promise<void>;

  before(async () => {
    backToModelCalls = await leaveModelCalls();
    sources = readSources((file) => file.startsWith('db/') && !LEFT_OUT.test(file));
    own = await createMigratedDatabase();
    database = await describeDatabase(own.url);
    for (const site of sources.sites) {
      siteAt.set(site.place, site);
      described.set(site, []);
    }
    const callable = sources.functions.filter(takesDatabase);
    for (const each of callable) for (let call = 0; call < CALLS; call += 1) await callOnce(each, call);
    for (const each of callable) {
      for (let call = CALLS; call < MOST_CALLS && mayReachMore(each); call += 1) await callOnce(each, call);
    }
  });
  after(async () => {
    sources.close();
    await database.close();
    await own.drop();
    await backToModelCalls();
  });

  const mayReachMore = ({ file }: ExportedFunction): boolean =>
    sources.sites.some((site) => site.place.startsWith(`${file}:`) && described.get(site)!.length === 0);

  async function callOnce({ file, name, parameters }: ExportedFunction, call: number): Promise<void> {
    const module = (await import(pathToFileURL(path.join(ROOT, file)).href)) as Record<string, Callable>;
    const choose = createChooser(call);
    const { sample } = createSampler(sources.checker, database.db, choose);
    const given = parameters.map(sample);
    const answer = (statement: Described): object[] => {
      const site = siteAt.get(placeOf(statement) ?? '');
      if (site !== undefined) described.get(site)!.push(statement);
      if (choose(3) === 0 || site === undefined) return [];
      // Without a declared row type, the caller reads only the number of rows, so an empty row is enough.
      return [site.row === undefined ? {} : (sample(site.type) as object)];
    };
    await database.describe(async () => exhaust(await module[name]!(...given)), answer);
  }

  it('are all described, unless the builder has checked them', () => {
    const unknown = sources.sites.filter((site) => !site.isChecked && described.get(site)!.length === 0);
    const missing = unknown.map(({ place }) => place);
    assert.deepEqual(missing, [], [...database.refusals].join('\n\n'));
  });

  it('return the columns that the types of their rows have', () => {
    const wrong = sources.sites.flatMap((site) => described.get(site)!.flatMap((each) => mistakesOf(site, each)));
    assert.deepEqual([...new Set(wrong)], []);
  });

  // Connections plan statements without their values, except for pages of lists.
  it('lose no index when they are planned without their values', async () => {
    assert.deepEqual(await database.losingIndexes(), []);
  });

  // If a migration changed the columns of a prepared statement, it would fail in processes that run during the
  // migration.
  it('return the same columns after a migration has added some to every table', async () => {
    const change = `DO $$ BEGIN
      EXECUTE (SELECT string_agg(format('ALTER TABLE %I ADD COLUMN added_later integer', tablename), ';')
        FROM pg_tables WHERE schemaname = 'public');
    END $$`;
    assert.deepEqual(await database.changedBy(change), []);
  });
});

type Callable = (...given: unknown[]) => unknown;

function takesDatabase({ parameters }: ExportedFunction): boolean {
  const [first] = parameters;
  if (first === undefined) return false;
  const types = first.isUnionType() ? first.getTypes() : [first];
  return types.some((type) => ['Kysely', 'Transaction'].includes(symbolOf(type)));
}

async function exhaust(result: unknown): Promise<void> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return;
  const pieces = (result as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  while ((await pieces.next()).done !== true);
}

/** The seeds 0 to 2 always choose the option of this index; others choose pseudo-randomly (mulberry32), repeatably. */
function createChooser(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    if (seed < 3) return Math.min(seed, count - 1);
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  };
}

/** The first place in `db/` from which the statement was executed, as `Site.place`. */
function placeOf({ stack }: Described): string | undefined {
  for (const [, file, line] of stack.matchAll(/(?:file:\/\/)?(\/[^\s():]+):(\d+):\d+/g)) {
    const relative = path.relative(ROOT, file!);
    if (relative.startsWith('db/') && relative !== 'db/core/statement.ts') return `${relative}:${line}`;
  }
  return undefined;
}

const KINDS: Record<string, Kind> = {
  bool: 'boolean',
  bytea: 'bytes',
  date: 'date',
  float8: 'number',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  json: 'json',
  jsonb: 'json',
  name: 'string',
  numeric: 'string',
  text: 'string',
  timestamptz: 'date',
  uuid: 'string',
  varchar: 'string',
  void: 'json',
};

function mistakesOf({ place, row }: Site, { columns }: Described): string[] {
  return [...(row ?? [])].flatMap(([name, declared]) => {
    const found = columns.find((column) => column.name === name);
    if (found === undefined) return [`${place}: no column is called ${name}`];
    const isList = found.type.endsWith('[]');
    const kind = KINDS[isList ? found.type.slice(0, -2) : found.type] ?? found.type;
    const given = isList ? `${kind}[]` : kind;
    return given === declared || given === 'json'
      ? []
      : [`${place}: ${name} is ${found.type}, and ${declared} is declared`];
  });
}
