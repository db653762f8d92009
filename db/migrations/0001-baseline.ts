import { readFileSync } from 'node:fs';
import { sql, type Kysely } from 'kysely';

/** The files of `0001-baseline/`, each after those whose tables it references. */
const SUBJECTS = [
  'accounts',
  'sessions',
  'workflows',
  'runs',
  'nodes',
  'agents',
  'human-tasks',
  'run-events',
  'marketplace',
  'webhooks',
  'hooks',
  'schedules',
  'spending',
  'stored-bytes',
  'audit',
  'connections',
  'test-runs',
  'files',
  'conversations',
  'routines',
];

/** All tables of version 0.3.0, with their indexes and comments. Their functions and triggers are in `db/routines/`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const subject of SUBJECTS) {
    const file = new URL(`0001-baseline/${subject}.sql`, import.meta.url);
    await sql.raw(readFileSync(file, 'utf8')).execute(db);
  }
}
