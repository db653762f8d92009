// Records refused requests in the audit log. Above a limit, refusals are only counted, so that nobody can fill the disk
// with them.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { AuditAction } from './subjects.js';
import type { AuditTarget, Doer } from './audit-entry.js';

export interface Refusal {
  action: AuditAction;
  doer: Doer;
  /** The network of the client's address, by which refusals are counted: an IPv6 customer has many addresses. */
  network: string;
  projectId: number | null;
  target: AuditTarget | undefined;
}

/** The limit on single records for one network and target in a minute. Another record counts all further refusals. */
const MOST_SINGLE = sql.lit(60);

const columns = sql`project_id, action, outcome, actor_id, actor_name, via, key_id, address, target_type, target_id,
  target_name, count`;

/** `entry` is a refusal as `toEntry` writes it. */
const values = sql`(entry ->> 'project')::integer, entry ->> 'action', 'refused', (entry ->> 'actor')::integer,
  (SELECT name FROM users WHERE id = (entry ->> 'actor')::integer), entry ->> 'via', (entry ->> 'key')::integer,
  entry ->> 'address', entry ->> 'type', entry ->> 'id', entry ->> 'name'`;

/** Counts the refusals, and records those within the limit, in one statement. */
export async function insertRefusals(db: Db, refusals: Refusal[]): Promise<void> {
  const keys = refusals.map(keyOf);
  const entries = refusals.map((refusal) => JSON.stringify(toEntry(refusal)));
  await sql`
    WITH given AS (
      SELECT key, entry::json AS entry, number, row_number() OVER (PARTITION BY key ORDER BY number) AS of_key,
        count(*) OVER (PARTITION BY key) AS together
      FROM unnest(${keys}::bytea[], ${entries}::text[]) WITH ORDINALITY AS refusal (key, entry, number)
    ), counted AS (
      INSERT INTO audit_refusals AS stored (key, minute, count, last)
      SELECT key, date_trunc('minute', now()), together, entry FROM given WHERE of_key = together ORDER BY key
      ON CONFLICT (key, minute) DO UPDATE SET count = stored.count + excluded.count, last = excluded.last
      RETURNING key, count
    )
    INSERT INTO audit_records (${columns})
    SELECT ${values}, 1 FROM given JOIN counted USING (key)
    WHERE counted.count - together + of_key <= ${MOST_SINGLE} ORDER BY number`.execute(db);
}

/**
 * Writes one record for each network, target and past minute with refusals above the limit, and deletes the counts of
 * all past minutes.
 */
export async function foldRefusals(db: Db): Promise<void> {
  await sql`
    WITH over AS (
      DELETE FROM audit_refusals WHERE minute < now() - interval '65 seconds' RETURNING last AS entry, count
    )
    INSERT INTO audit_records (${columns})
    SELECT ${values}, count - ${MOST_SINGLE} FROM over WHERE count > ${MOST_SINGLE}`.execute(db);
}

function keyOf({ network, target }: Refusal): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([network, target?.type, target?.id]))
    .digest();
}

function toEntry({ action, doer, projectId, target }: Refusal): object {
  const { via, userId, keyId, address } = doer;
  const who = { actor: userId, via, key: keyId, address };
  return { project: projectId, action, ...who, type: target?.type, id: target?.id, name: target?.name };
}
