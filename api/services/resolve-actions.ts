// Writes the facts of actions (address, method, fields) into drawings. The facts come from services or from stored
// drawings, never from the body of a request (docs/use/services.md).
import { findActionsOf, MOST_BYTES_OF_ACTION } from '../../db/services/services-repository.js';
import type { Db } from '../../db/core/client.js';
import type { ActionFacts } from '../../graph/actions/action.js';
import {
  actionsIn,
  actionsToFind,
  holdsActions,
  withActions,
  drawingWithoutFacts,
  type ActionName,
  type FoundAction,
} from '../../graph/actions/stored-actions.js';
import { isEqualJson, type JsonObject } from '../../graph/json.js';
import { ApiError } from '../http/errors.js';
import { uuid } from '../http/path-ids.js';
import { findCatalogueAction } from './catalogue.js';
import { toFacts } from './service-view.js';

const MOST_BYTES = 8 * 1024 * 1024;
/** The number of actions that are read at once, so that the facts of all of them are within `MOST_BYTES`. */
const GROUP = Math.floor(MOST_BYTES / MOST_BYTES_OF_ACTION);

type Find = (name: ActionName) => ActionFacts | undefined;

/**
 * Returns a function that finds the facts of these actions. A service of the catalogue never takes the place of a
 * service of a project, because its id is no UUID. The caller must have checked access. Actions of the project whose
 * fields exceed `MOST_BYTES_OF_ACTION` are not found, nor are some others if their fields together exceed `mostBytes`.
 */
async function findActions(db: Db, projectId: number, names: readonly ActionName[], mostBytes: number): Promise<Find> {
  const own = names.flatMap(({ service, id }) => {
    const parsed = uuid.safeParse(service);
    return parsed.success ? [{ service: parsed.data, id }] : [];
  });
  const found = await findActionsOf(db, projectId, own, mostBytes);
  const facts = new Map(found.map((action) => [keyOf({ service: action.serviceId, id: action.id }), toFacts(action)]));
  return ({ service, id }) => {
    const known = findCatalogueAction(service, id);
    return known === undefined ? facts.get(keyOf({ service: service.toLowerCase(), id })) : toFacts(known);
  };
}

function keyOf({ service, id }: ActionName): string {
  return JSON.stringify([service, id]);
}

/**
 * Returns the drawing of a body with the facts of its actions. An action without `refresh` keeps the facts from the
 * first of `earlier` (masked drawings) that has it at the same node with the same values; other actions get the present
 * facts from their service. An action that no service has gets no facts, unless `earlier` has some. Throws 413 for a
 * result of more than 8 MiB: facts may be a hundred times as long as the names of their actions, and a drawing that is
 * read must fit into the body that stores it.
 */
export async function resolveActions(
  db: Db,
  projectId: number,
  drawing: JsonObject,
  earlier: readonly (JsonObject | undefined)[] = [],
): Promise<JsonObject> {
  if (!holdsActions(drawing)) return drawing;
  const kept = earlier.filter((each) => each !== undefined);
  // If `MOST_BYTES` keeps an action from being found, the found ones exceed that limit, and the drawing is refused.
  const find = await findActions(db, projectId, actionsToFind(drawing, kept), MOST_BYTES);
  const resolved = withActions(drawing, kept, find);
  refuseLarge(resolved);
  return resolved;
}

/** Measures the drawing in parts: nodes share facts in memory, but the text of the whole may need gigabytes. */
function refuseLarge(drawing: JsonObject): void {
  let bytes = 0;
  for (const part of [drawingWithoutFacts(drawing), ...actionsIn(drawing).map(({ facts }) => facts ?? {})]) {
    bytes += Buffer.byteLength(JSON.stringify(part));
    if (bytes > MOST_BYTES) {
      throw new ApiError(413, 'too_large', 'The drawing and the facts of its actions have more than 8 MiB together.');
    }
  }
}

/** Returns a limit on the bytes that `resolveActions` adds to a drawing. */
export function mostAddedBytes(drawing: JsonObject): number {
  return holdsActions(drawing) ? Math.min(MOST_BYTES, MOST_BYTES_OF_ACTION * actionsIn(drawing).length) : 0;
}

export interface ActionWarning {
  node_id: string;
  code: 'action_outdated';
  message: string;
  path: string;
}

/** Warns of actions that no longer exist, or whose facts differ from those that their nodes store. */
export async function findActionWarnings(db: Db, projectId: number, drawing: JsonObject): Promise<ActionWarning[]> {
  const stored = actionsIn(drawing).filter(({ facts }) => facts !== undefined);
  if (stored.length === 0) return [];
  const warnings: ActionWarning[] = [];
  await forEachAction(db, projectId, stored, (action, facts) => {
    const warning = warnIfOutdated(action, facts);
    if (warning !== undefined) warnings.push(warning);
  });
  return warnings;
}

/** Calls `look` with the present facts of each action. At most `MOST_BYTES` of facts are in memory at once. */
export async function forEachAction<Name extends ActionName>(
  db: Db,
  projectId: number,
  names: readonly Name[],
  look: (name: Name, facts: ActionFacts | undefined) => void,
): Promise<void> {
  for (let from = 0; from < names.length; from += GROUP) {
    const group = names.slice(from, from + GROUP);
    const find = await findActions(db, projectId, group, MOST_BYTES);
    for (const name of group) look(name, find(name));
  }
}

function warnIfOutdated(
  { id, nodeId, path, facts }: FoundAction,
  now: ActionFacts | undefined,
): ActionWarning | undefined {
  if (now !== undefined && isEqualJson(now, facts)) return undefined;
  const what =
    now === undefined
      ? 'is gone, so its node runs as stored'
      : 'has changed since; refresh it to take what the service says now';
  return { node_id: String(nodeId), code: 'action_outdated', message: `The action "${id}" ${what}.`, path };
}
