// How often a hook was called in this minute. Writer: the API. Exact over any number of processes: the row's lock puts the
// deliveries of a hook in one order, and only the database's clock is asked.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';

const WINDOW_SECONDS = 60;

/** Counted apart, so that who knows an address alone cannot use up what the right sender may send. */
export type DeliveryKind = 'deliveries' | 'refusals';

export interface HookCount {
  /** Of this kind within the window, this one included. */
  count: number;
  /** Until the window is over; at least 1. */
  secondsLeft: number;
}

/** A window begins with the first delivery after the last one ended. */
export async function countDelivery(db: Db, hookId: number, kind: DeliveryKind): Promise<HookCount> {
  const isOver = sql`stored.ends_at <= now()`;
  const next = (column: DeliveryKind) => {
    const stored = sql.ref(`stored.${column}`);
    return sql`CASE WHEN ${isOver} THEN 0 ELSE ${stored} END + ${sql.ref(`excluded.${column}`)}`;
  };
  const [delivered, refused] = kind === 'deliveries' ? [1, 0] : [0, 1];
  const { rows } = await sql<HookCount>`
    INSERT INTO hook_windows AS stored (hook_id, ends_at, deliveries, refusals)
    VALUES (${hookId}, now() + make_interval(secs => ${WINDOW_SECONDS}), ${delivered}, ${refused})
    ON CONFLICT (hook_id) DO UPDATE SET
      deliveries = ${next('deliveries')},
      refusals = ${next('refusals')},
      ends_at = CASE WHEN ${isOver} THEN excluded.ends_at ELSE stored.ends_at END
    RETURNING ${sql.ref(kind)} AS count,
      greatest(1, ceil(extract(epoch FROM ends_at - now())))::integer AS "secondsLeft"`.execute(db);
  return rows[0]!;
}
