// Secrets that a run receives in addition to those of its own drawing and input, for example from its child runs with
// their outputs, or from a person who answers a task. The run masks them in everything that it stores
// (docs/operate/security.md).
import { sql } from 'kysely';
import type { Database, Db } from '../core/client.js';
import type { SecretBox } from '../core/secret-box.js';

/** The limit for all passed secrets of a run; the secret fields of an input have the same limit. */
const MAX_PASSED_CHARACTERS = 65_536;

export function arePassable(secrets: readonly string[]): boolean {
  return secrets.reduce((sum, secret) => sum + secret.length, 0) <= MAX_PASSED_CHARACTERS;
}

/** The identity to which the sealed columns of a run are bound. */
export type RunRow = readonly [projectId: number, runId: string];

export function sealPassedSecrets(box: SecretBox, secrets: readonly string[], row: RunRow): Buffer {
  return box.seal(JSON.stringify([...new Set(secrets)]), 'passed-secrets', ...row);
}

export function openPassedSecrets(box: SecretBox, sealed: Buffer | null, row: RunRow): string[] {
  return sealed === null ? [] : (JSON.parse(box.open(sealed, 'passed-secrets', ...row)) as string[]);
}

/** Returns the sealed secrets, or null if there are none. */
export async function findPassedSecrets(db: Db, runId: string): Promise<Buffer | null> {
  const { rows } = await sql<{ sealed: Buffer | null }>`
    SELECT passed_secrets_enc AS sealed FROM runs WHERE id = ${runId}`.execute(db);
  return rows[0]?.sealed ?? null;
}

/**
 * Adds secrets to those passed to the run. Returns false, and adds nothing, if all together exceed the limit.
 * Idempotent.
 */
export function passSecrets(db: Database, box: SecretBox, runId: string, secrets: readonly string[]): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom('runs')
      .select(['project_id', 'passed_secrets_enc'])
      .where('id', '=', runId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    const place: RunRow = [row.project_id, runId];
    const known = openPassedSecrets(box, row.passed_secrets_enc, place);
    const all = [...new Set([...known, ...secrets])];
    if (all.length === known.length) return true;
    if (!arePassable(all)) return false;
    await transaction
      .updateTable('runs')
      .set({ passed_secrets_enc: sealPassedSecrets(box, all, place) })
      .where('id', '=', runId)
      .execute();
    return true;
  });
}
