// Exports and imports services of projects by name: a file names services and actions, and an import never takes the
// facts of an action (address, method, fields) from the file (docs/use/services.md).
import { z } from 'zod';
import { findServiceNames, findServicesByName } from '../../db/services/services-repository.js';
import type { Db } from '../../db/core/client.js';
import { holdsActions, mapActions } from '../../graph/actions/stored-actions.js';
import { cutText } from '../../graph/cut-text.js';
import { labelOf } from '../../graph/exported-drawing.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import type { ImportWarning } from '../../n8n/n8n-file.js';
import { uuid } from '../http/path-ids.js';

export const exportedServiceSchema = z.object({
  ref: z.string().describe('Stands in the drawing where it names the service'),
  name: z.string(),
});

type ExportedService = z.infer<typeof exportedServiceSchema>;

/** Returns the drawing with refs instead of the ids of the project's services, and the services of the refs. */
export async function exportServices(
  db: Db,
  projectId: number,
  drawing: JsonObject,
): Promise<{ drawing: JsonObject; services: ExportedService[] }> {
  if (!holdsActions(drawing)) return { drawing, services: [] };
  const ids = new Set<string>();
  mapActions(drawing, (action) => {
    const id = uuid.safeParse(action['service']);
    if (id.success) ids.add(id.data);
    return action;
  });
  const found = await findServiceNames(db, projectId, [...ids]);
  const refs = new Map(found.map(({ id }, index) => [id, `s${index + 1}`]));
  const named = mapActions(drawing, ({ service, id }) => {
    const ref = typeof service === 'string' ? refs.get(service.toLowerCase()) : undefined;
    return { service: ref ?? service, id };
  });
  return { drawing: named, services: found.map(({ id, name }) => ({ ref: refs.get(id)!, name })) };
}

const MOST_LISTED = 1_000;

/** Reads the list of a file, which may contain anything. */
export function readServices(listed: unknown): Map<string, string> {
  const items: unknown[] = Array.isArray(listed) ? listed.slice(0, MOST_LISTED) : [];
  return new Map(
    items
      .filter(isObject)
      .flatMap(({ ref, name }): [string, string][] =>
        typeof ref === 'string' && typeof name === 'string' ? [[ref, name]] : [],
      ),
  );
}

/**
 * Returns the drawing of a file with the project's services of the same names, and a warning for each action of a
 * service in `listed` that the project does not have.
 */
export async function importServices(
  db: Db,
  projectId: number,
  drawing: JsonObject,
  listed: ReadonlyMap<string, string>,
): Promise<{ drawing: JsonObject; warnings: ImportWarning[] }> {
  if (listed.size === 0 || !holdsActions(drawing)) return { drawing, warnings: [] };
  const known = await findServicesByName(db, projectId, [...listed.values()]);
  const warnings: ImportWarning[] = [];
  const drawn = Array.isArray(drawing['nodes']) ? drawing['nodes'].filter(isObject) : [];
  const mapped = mapActions(drawing, (action, { nodeId }) => {
    const name = listed.get(String(action['service']));
    if (name === undefined) return action;
    const here = known.find((service) => service.name === name);
    if (here !== undefined) return { ...action, service: here.id };
    const message = `Add the service "${cutText(name, 100)}", whose action it calls.`;
    const node = drawn.find(({ id }) => id === nodeId);
    warnings.push({ node: node === undefined ? null : labelOf(node), message });
    return action;
  });
  return { drawing: mapped, warnings };
}
