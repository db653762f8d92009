// How far a loop is, as readers see it. Extensions, section 1.3.
import { sql, type RawBuilder } from 'kysely';
import { iterationsPrefixOf } from '../nodes/path-text.js';

/** As JSON of a row holds it. */
export interface IterationCounts {
  total: number;
  succeeded: number;
  failed: number;
  in_progress: number;
}

/** Of the row `node` of `node_results`, where it is a loop; null for other nodes. */
function ofLoop(what: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE WHEN node.iterations IS NOT NULL THEN (
    SELECT ${what} FROM node_results AS iteration
    WHERE iteration.run_id = node.run_id AND iteration.node_id = node.node_id AND iteration.is_iteration
      AND starts_with(iteration.path, ${iterationsPrefixOf(sql`node.path`, sql`node.node_id`)})
  ) END`;
}

const counts = sql`json_build_object('total', greatest(node.iterations, count(*)),
  'succeeded', count(*) FILTER (WHERE iteration.status = 'succeed'),
  'failed', count(*) FILTER (WHERE iteration.status = 'failed'),
  'in_progress', count(*) FILTER (WHERE iteration.status = 'in progress'))`;

/** The member `iterations` of an entry, with the comma before it; null for what is no loop. */
export const iterationsText: RawBuilder<unknown> = ofLoop(sql`',"iterations":' || (${counts})::text`);

/** JSON of `IterationCounts`. */
export const iterationCounts: RawBuilder<unknown> = ofLoop(counts);
