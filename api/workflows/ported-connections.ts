// Exports and imports connections by name: a file names them and never contains them (docs/use/porting.md).
import { z } from 'zod';
import { CONNECTION_KINDS } from '../../connections/kinds.js';
import { findConnectionsByName, findConnectionsOf } from '../../db/connections/connections-repository.js';
import type { Db } from '../../db/core/client.js';
import { connectionsIn, mapConnections } from '../../graph/connections.js';
import { labelOf } from '../../graph/exported-drawing.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { cutText } from '../../graph/cut-text.js';
import type { ImportWarning } from '../../n8n/n8n-file.js';

export const exportedConnectionSchema = z.object({
  ref: z.string().describe('Stands in the drawing where it names the connection'),
  name: z.string(),
  kind: z.enum(CONNECTION_KINDS),
  origins: z.array(z.string()),
});

type ExportedConnection = z.infer<typeof exportedConnectionSchema>;

/** Returns the drawing with refs instead of ids, and the connections that the refs stand for. */
export async function exportConnections(
  db: Db,
  projectId: number,
  drawing: JsonObject,
): Promise<{ drawing: JsonObject; connections: ExportedConnection[] }> {
  const ids = connectionsIn(drawing).map(({ id }) => id);
  const found = await findConnectionsOf(db, projectId, ids);
  const refs = new Map(found.map(({ id }, index) => [id, `c${index + 1}`]));
  return {
    drawing: ids.length === 0 ? drawing : mapConnections(drawing, (value) => refs.get(value as number)),
    connections: found.map(({ id, name, kind, origins }) => ({ ref: refs.get(id)!, name, kind, origins })),
  };
}

/** Bounds the work for a hostile file; ordinary files list few connections. */
const MOST_LISTED = 1_000;

/** Reads the list of a file, which may contain anything. */
export function readConnections(listed: unknown): Map<string, { name: string; kind: string }> {
  const items: unknown[] = Array.isArray(listed) ? listed.slice(0, MOST_LISTED) : [];
  return new Map(
    items
      .filter(isObject)
      .flatMap(({ ref, name, kind }): [string, { name: string; kind: string }][] =>
        typeof ref === 'string' && typeof name === 'string' && typeof kind === 'string' ? [[ref, { name, kind }]] : [],
      ),
  );
}

/**
 * Returns the drawing of a file with the project's connections of the same name and kind, and a warning for each place
 * without one. Ids in a file are those of another project, and are ignored.
 */
export async function importConnections(
  db: Db,
  projectId: number,
  drawing: JsonObject,
  listed: ReadonlyMap<string, { name: string; kind: string }>,
): Promise<{ drawing: JsonObject; warnings: ImportWarning[] }> {
  const names = [...listed.values()].map(({ name }) => name);
  const known = names.length === 0 ? [] : await findConnectionsByName(db, projectId, names);
  const warnings: ImportWarning[] = [];
  const mapped = mapConnections(drawing, (value, { node }) => {
    const meant = typeof value === 'string' ? listed.get(value) : undefined;
    const here = meant && known.find(({ name, kind }) => name === meant.name && kind === meant.kind);
    if (here !== undefined) return here.id;
    const named =
      meant === undefined ? '' : `: the file names "${cutText(meant.name, 100)}" (${cutText(meant.kind, 40)})`;
    warnings.push({ node: labelOf(node), message: `Choose the connection that it uses${named}.` });
    return undefined;
  });
  return { drawing: mapped, warnings };
}
