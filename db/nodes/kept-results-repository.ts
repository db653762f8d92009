// Results that a run has taken over from an earlier one (`is_reused`), as its worker reads them. They never change.
import { sql } from 'kysely';
import { indexOfPath } from '../../graph/iteration-path.js';
import type { NodeEnding, NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { ofLoop } from './iterations-repository.js';

/** How a node outside bodies has ended. */
export interface EndedNode extends NodeEnding {
  nodeId: string;
}

/** The columns of an `EndedNode`. */
export const endedColumns = sql`node_id AS "nodeId", status, handle, also_handles AS "alsoHandles",
  error_code AS "errorCode", is_handled AS "isHandled"`;

/** The nodes outside bodies that the run has taken over. */
export async function findKeptNodes(db: Db, runId: string): Promise<EndedNode[]> {
  const { rows } = await sql<EndedNode>`/* find_kept */
    SELECT ${endedColumns} FROM node_results WHERE run_id = ${runId} AND path = '' AND is_reused`.execute(db);
  return rows;
}

/** The indexes of the iterations of a loop that the run has taken over, in their order. */
export async function findKeptIterations(db: Db, loop: NodeKey): Promise<number[]> {
  const { rows } = await sql<{ path: string }>`/* find_kept_iterations */
    SELECT path FROM node_results WHERE ${ofLoop(loop)} AND is_reused`.execute(db);
  return rows.map(({ path }) => indexOfPath(path)).toSorted((a, b) => a - b);
}
