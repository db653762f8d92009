// Paths of iterations in SQL, as graph/iteration-path.ts makes them.
import { sql, type RawBuilder } from 'kysely';
import { encodeId } from '../../graph/iteration-path.js';

/** The beginning of the paths of all iterations of a loop, from its own path and its id. */
export function iterationsPrefixOf(path: RawBuilder<unknown>, nodeId: RawBuilder<unknown>): RawBuilder<string> {
  // The percent sign comes first, because the others bring it in.
  const encoded = ['%', '/', '[', ']', '~'].reduce(
    (text, sign) => sql`replace(${text}, ${sql.lit(sign)}, ${sql.lit(encodeId(sign))})`,
    nodeId,
  );
  return sql`CASE ${path} WHEN '' THEN '' ELSE ${path} || '/' END || ${encoded} || '['`;
}

/** The path of the loop of an iteration. */
export function pathOfLoop(path: RawBuilder<unknown>): RawBuilder<string> {
  return sql`regexp_replace(${path}, '/?[^/]*$', '')`;
}
