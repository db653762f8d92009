import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { generateTableTypes } from '../../../scripts/table-types/generate.js';
import { sharperTypes } from '../../../scripts/table-types/sharper-types.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import { withMigratedDatabase } from '../migrated-database.js';

const FILE = path.resolve(import.meta.dirname, '../../../db/core/table-types.ts');

describe('the types of the tables', function () {
  this.timeout(60_000);

  it('are those of the migrated database: `npm run db:types` writes them', async () => {
    const types = await withMigratedDatabase(generateTableTypes);
    assert.ok(types === readFileSync(FILE, 'utf8'), 'run npm run db:types');
  });

  it('say of every table who writes it', async () => {
    const text = `SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname NOT LIKE 'kysely_%'
        AND coalesce(obj_description(oid, 'pg_class'), '') !~ '\\mWriters?:'`;
    await withMigratedDatabase(async (_, stack) => assert.deepEqual(await queryDatabase(stack, text), []));
  });

  it('are sharper only of columns that there are', async () => {
    const text = `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public'`;
    const columns = await queryDatabase<{ name: string }>(await sharedStack(), text);
    const known = new Set(columns.map(({ name }) => name));
    assert.deepEqual(
      Object.keys(sharperTypes).filter((name) => !known.has(name)),
      [],
    );
  });
});
