// The build that follows this one. It has the same code, one more migration, which changes every table, and one more
// function in every file of routines.
import { appendFileSync, cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { OtherBuild } from '../support/worker-builds.js';
import { OWN_BUILD } from '../../harness/stack/supervisor.js';

export const NEXT_MIGRATION = '9999-next';
const NEXT_FUNCTION = 'CREATE OR REPLACE FUNCTION of_next_build() RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;\n';
const ROOT = path.resolve(import.meta.dirname, '../..');
/** An additive migration, like all of the project: the older build works without the new columns and the index. */
const MIGRATION = `
migrations['${NEXT_MIGRATION}'] = {
  async up(db) {
    const tables = await db.introspection.getTables();
    for (const { name, isView } of tables) if (!isView) await db.schema.alterTable(name).addColumn('added_next', 'text').execute();
    await db.schema.createIndex('runs_added_next').on('runs').column('added_next').execute();
  },
};
`;

export interface NextBuild extends OtherBuild {
  /** The changes that it applies to a database of this build, by the names that it prints. */
  applies: string[];
}

export function makeNextBuild(): NextBuild {
  const folder = mkdtempSync(path.join(tmpdir(), 'next-build-'));
  const dist = path.join(folder, 'dist');
  cpSync(OWN_BUILD, dist, { recursive: true });
  cpSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  appendFileSync(path.join(dist, 'db/schema/migrate.js'), MIGRATION);
  const routines = path.join(dist, 'db/routines');
  const files = readdirSync(routines);
  for (const name of files) appendFileSync(path.join(routines, name), NEXT_FUNCTION);
  const applies = [NEXT_MIGRATION, ...files.map((name) => `routines/${name}`)];
  return { dist, applies, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
