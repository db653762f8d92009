// Fills a database for measuring the catalog and the marketplace: `npx tsx bench/seed-workflows.ts [--workflows 10000]
// [--runs 100000]` with DATABASE_URL of a migrated database that nobody needs. Prints the user who sees it all.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';

const GRAPHS = path.resolve(import.meta.dirname, '../examples/graphs');
const PROJECTS = 20;
const CATEGORIES = 20;
const BUYERS = 1000;

interface SeedOptions {
  databaseUrl: string;
  /** All of one user, all published; every second one has been copied, every tenth is bookmarked. */
  workflows: number;
  /** In the first workflow; the others have one each. */
  runs: number;
}

/** Returns the id of the user who sees all of it. */
async function seedWorkflows({ databaseUrl, workflows, runs }: SeedOptions): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const userId = await seedPeople(client);
    await seedDrawings(client, userId, workflows);
    await seedCategories(client);
    await seedRuns(client, userId, runs);
    await seedCopies(client, userId);
    await client.query('VACUUM ANALYZE');
    return userId;
  } finally {
    await client.end();
  }
}

async function seedPeople(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ id: number }>("INSERT INTO users (name) VALUES ('bench') RETURNING id");
  const userId = rows[0]!.id;
  await client.query(
    `WITH made AS (
      INSERT INTO projects (name, created_by) SELECT 'bench ' || number, $1 FROM generate_series(1, $2) AS number RETURNING id)
    INSERT INTO project_members (project_id, user_id, role) SELECT id, $1, 'owner' FROM made`,
    [userId, PROJECTS],
  );
  await client.query("INSERT INTO users (name) SELECT 'bench buyer ' || number FROM generate_series(1, $1) AS number", [
    BUYERS,
  ]);
  return userId;
}

/** The drawings of the examples in turn, and in every second workflow a small one, which stays in the row. */
async function seedDrawings(client: pg.Client, userId: number, count: number): Promise<void> {
  const files = readdirSync(GRAPHS).filter((name) => name.endsWith('.json'));
  const drawings = files.map((name) => JSON.stringify(JSON.parse(readFileSync(path.join(GRAPHS, name), 'utf8'))));
  const small = JSON.stringify({ nodes: [{ id: 'n', type: 'trigger-node', data: { note: 'x '.repeat(600) } }] });
  await client.query("INSERT INTO graph_snapshots (hash, document, plan) VALUES ('\\x00', $1, '{}')", [small]);
  await client.query(
    `WITH own AS (SELECT array_agg(project_id ORDER BY project_id) AS ids FROM project_members WHERE user_id = $1)
    INSERT INTO workflows (project_id, author_id, title, sort_id, document, market_title, short_description,
      readme_guide, available_languages, run_fee_usd, is_published, slug, first_published_at, last_published_at,
      published_snapshot, created_at)
    SELECT ids[1 + number % ${PROJECTS}], $1, 'Workflow ' || md5(number::text), number,
      CASE number % 2 WHEN 0 THEN $3 ELSE ($4::text[])[1 + number / 2 % $5] END::json, 'Market ' || md5((-number)::text),
      repeat(md5(number::text) || ' ', 6), repeat(md5(number::text) || ' ', 60),
      ARRAY[(ARRAY['en', 'de', 'fr', 'ru', 'zh'])[1 + number % 5], 'en'], 0.01, true, 'bench-' || number,
      now(), now() - make_interval(mins => number), '\\x00', now() - make_interval(mins => number * 7919 % 100000)
    FROM own, generate_series(1, $2::integer) AS number`,
    [userId, count, small, drawings, drawings.length],
  );
  await client.query(
    `INSERT INTO bookmarks (user_id, workflow_id) SELECT $1, id FROM workflows WHERE author_id = $1 AND id % 10 = 0`,
    [userId],
  );
}

async function seedCategories(client: pg.Client): Promise<void> {
  await client.query(`
    WITH made AS (
      INSERT INTO categories (name) SELECT 'bench ' || number FROM generate_series(1, ${CATEGORIES}) AS number RETURNING id)
    INSERT INTO categories (name, parent_id) SELECT 'bench below ' || id, id FROM made, generate_series(1, 5)`);
  for (const level of ['IS NULL', 'IS NOT NULL']) {
    await client.query(`
      WITH own AS (SELECT array_agg(id ORDER BY id) AS ids FROM categories WHERE parent_id ${level} AND name LIKE 'bench%')
      INSERT INTO workflow_categories (workflow_id, category_id)
      SELECT id, ids[1 + id % cardinality(ids)] FROM workflows, own WHERE slug LIKE 'bench-%'`);
  }
}

async function seedRuns(client: pg.Client, userId: number, count: number): Promise<void> {
  await client.query(
    `INSERT INTO runs (id, workflow_id, project_id, user_id, status, snapshot_hash, input, cost_usd, created_at,
      run_started_at, run_finished_at)
    SELECT gen_random_uuid(), id, project_id, $1, 'Succeeded', '\\x00', '{}', round((id * 31 + number) % 997 / 1000.0, 6),
      now() - make_interval(secs => (id * 7919 + number * 60) % 10000000), now(), now() + make_interval(secs => id % 60)
    FROM workflows, generate_series(1, CASE slug WHEN 'bench-1' THEN $2::integer ELSE 1 END) AS number
    WHERE slug LIKE 'bench-%'`,
    [userId, count],
  );
}

async function seedCopies(client: pg.Client, userId: number): Promise<void> {
  await client.query(
    `WITH buyers AS (SELECT array_agg(id) AS ids FROM users WHERE name LIKE 'bench buyer %'),
      made AS (
        INSERT INTO workflows (project_id, author_id, title, sort_id, document, copied_from)
        SELECT project_id, ids[1 + workflows.id % ${BUYERS}], 'Copy', 0, '{}', workflows.id FROM workflows, buyers
        WHERE author_id = $1 AND workflows.id % 2 = 0
        RETURNING id, author_id, copied_from)
    INSERT INTO marketplace_copies (copy_id, source_id, user_id, run_fee_usd, free_runs_per_user)
    SELECT id, copied_from, author_id, 0.01, 0 FROM made`,
    [userId],
  );
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({
    options: { workflows: { type: 'string', default: '10000' }, runs: { type: 'string', default: '100000' } },
  });
  const databaseUrl = process.env['DATABASE_URL'];
  if (databaseUrl === undefined) throw new Error('DATABASE_URL: must name a database that nobody needs.');
  const options = { databaseUrl, workflows: Number(values.workflows), runs: Number(values.runs) };
  console.log(JSON.stringify({ user_id: await seedWorkflows(options) }));
}
