// The actions that a drawing names: in the data of HTTP nodes, and among the tools of agents. What an action says is
// written by the service alone, and stored with the drawing.
import { inKeyOrder, isObject, ownValue, type JsonObject } from '../json.js';
import { writeJson } from '../json-text.js';
import { mapArray, mapObject } from '../secrets.js';
import { actionOfTool, FACTS_OF_TOOL, readAction, type ActionFacts } from './action.js';

interface ActionPlace {
  nodeId: unknown;
  /** The path inside the node's data: `action`, or `tools.<index>`. */
  path: string;
}

/** `action` is the object that names the service and the action: `data.action` of a node, or the tool itself. */
type Replace = (action: JsonObject, place: ActionPlace, owner: JsonObject) => JsonObject;

/** Returns a copy of the drawing with `replace` applied to every action. The drawing may be invalid. */
export function mapActions(drawing: JsonObject, replace: Replace): JsonObject {
  return mapArray(drawing, 'nodes', (node) =>
    mapObject(node, 'data', (data) => {
      const { id: nodeId, type } = node;
      if (type === 'http-node') {
        return mapObject(data, 'action', (action) => replace(action, { nodeId, path: 'action' }, data));
      }
      if (type !== 'agent-node') return data;
      return mapArray(data, 'tools', (tool, index) => {
        const action = actionOfTool(tool);
        if (action === undefined) return tool;
        const replaced = replace(action, { nodeId, path: `tools.${index}` }, tool);
        const { service: _service, id: _id, refresh, ...facts } = replaced;
        const { refresh: _asked, [FACTS_OF_TOOL]: _said, ...own } = tool;
        const kept = refresh === undefined ? own : { ...own, refresh };
        return Object.keys(facts).length === 0 ? kept : { ...kept, [FACTS_OF_TOOL]: facts };
      });
    }),
  );
}

/** Returns the drawing without what its actions say, as a client that knows only their names would send it. */
export function withoutFacts(drawing: JsonObject): JsonObject {
  return withActions(drawing, [], () => undefined);
}

/** Returns true if the drawing has an action. A quick test, because few drawings have any. */
export function holdsActions(drawing: JsonObject): boolean {
  const nodes = ownValue(drawing, 'nodes');
  if (!Array.isArray(nodes)) return false;
  return nodes.some((node: unknown) => {
    const data = ownValue(node, 'data');
    const type = ownValue(node, 'type');
    if (type === 'http-node') return isObject(ownValue(data, 'action'));
    const tools = type === 'agent-node' ? ownValue(data, 'tools') : undefined;
    return Array.isArray(tools) && tools.some((tool: unknown) => ownValue(tool, 'type') === 'action');
  });
}

export interface ActionName {
  service: string;
  id: string;
}

export interface FoundAction extends ActionPlace, ActionName {
  facts: ActionFacts | undefined;
}

export function actionsIn(drawing: JsonObject): FoundAction[] {
  const found: FoundAction[] = [];
  mapActions(drawing, (action, place) => {
    const named = readAction(action);
    if (named !== undefined) found.push({ ...place, ...named });
    return action;
  });
  return found;
}

/**
 * Returns the distinct services that a drawing as JSON text names, UUIDs in lower case as the database has them. Few
 * drawings have any.
 */
export function serviceIdsOf(document: string): string[] {
  if (!document.includes('"service"')) return [];
  const drawing: unknown = JSON.parse(document);
  return isObject(drawing) ? [...new Set(actionsIn(drawing).map(({ service }) => service.toLowerCase()))] : [];
}

/**
 * Returns the drawing with what its actions say. An action keeps what the first of `earlier` (masked drawings) has
 * stored for it at its node, while the action and its `values` stay as they are; all others, and those with
 * `refresh: true`, get what `find` returns. An action that is gone from its service, or came with a copy from another
 * project, keeps what any node of `earlier` has stored for it. Whatever else the drawing has in `action` is dropped.
 */
export function withActions(
  drawing: JsonObject,
  earlier: readonly JsonObject[],
  find: (name: ActionName) => ActionFacts | undefined,
): JsonObject {
  const stored = earlier.map(storedActions);
  return mapActions(drawing, (action, { nodeId }, owner) => {
    const { service, id } = action;
    const name = { ...(service !== undefined && { service }), ...(id !== undefined && { id }) };
    if (typeof service !== 'string' || typeof id !== 'string') return name;
    const known = stored.map((actions) => actionAt(actions, nodeId, { service, id }));
    const kept = action['refresh'] === true ? undefined : keptFacts(known, owner);
    return { ...name, ...(kept ?? find({ service, id }) ?? lastFacts(stored, known, { service, id })) };
  });
}

/** The actions for which `withActions` asks. */
export function actionsToFind(drawing: JsonObject, earlier: readonly JsonObject[]): ActionName[] {
  const stored = earlier.map(storedActions);
  const names = new Map<string, ActionName>();
  mapActions(drawing, (action, { nodeId }, owner) => {
    const { service, id } = action;
    if (typeof service !== 'string' || typeof id !== 'string') return action;
    const known = stored.map((actions) => actionAt(actions, nodeId, { service, id }));
    const isKept = action['refresh'] !== true && keptFacts(known, owner) !== undefined;
    if (!isKept) names.set(keyOf({ service, id }), { service, id });
    return action;
  });
  return [...names.values()];
}

interface StoredAction {
  values: unknown;
  /** `values` as `toComparable` writes it, once it was compared. */
  comparable?: string;
  facts: ActionFacts;
}

/** The first action of each name: a caller decides how many there are, so each is found without a search. */
interface StoredActions {
  /** The tools of an agent may have changed their order, so their places do not count. */
  ofNodes: Map<unknown, Map<string, StoredAction>>;
  ofDrawing: Map<string, StoredAction>;
}

function storedActions(drawing: JsonObject): StoredActions {
  const ofNodes: StoredActions['ofNodes'] = new Map();
  const ofDrawing: StoredActions['ofDrawing'] = new Map();
  mapActions(drawing, (action, { nodeId }, owner) => {
    const named = readAction(action);
    if (named?.facts === undefined) return action;
    const key = keyOf(named);
    const one = { values: ownValue(owner, 'values'), facts: named.facts };
    const ofNode = ofNodes.get(nodeId) ?? new Map<string, StoredAction>();
    ofNodes.set(nodeId, ofNode);
    for (const actions of [ofNode, ofDrawing]) if (!actions.has(key)) actions.set(key, one);
    return action;
  });
  return { ofNodes, ofDrawing };
}

function keyOf({ service, id }: ActionName): string {
  return JSON.stringify([service, id]);
}

function actionAt({ ofNodes }: StoredActions, nodeId: unknown, name: ActionName): StoredAction | undefined {
  return ofNodes.get(nodeId)?.get(keyOf(name));
}

/** `known` is what each earlier drawing has stored at the node. */
function keptFacts(known: readonly (StoredAction | undefined)[], owner: JsonObject): ActionFacts | undefined {
  let own: string | undefined;
  for (const one of known) {
    if (one === undefined) continue;
    one.comparable ??= toComparable(one.values);
    own ??= toComparable(ownValue(owner, 'values'));
    if (one.comparable === own) return one.facts;
  }
  return undefined;
}

/**
 * Many nodes of a body may have the id of one stored node. Texts of different lengths are unequal without a look at the
 * stored values, which `isEqualJson` would list again for each node.
 */
function toComparable(values: unknown): string {
  return writeJson(inKeyOrder(values ?? {}));
}

/** What the node itself has stored comes first: the credentials in its values were entered for that server. */
function lastFacts(
  stored: readonly StoredActions[],
  known: readonly (StoredAction | undefined)[],
  name: ActionName,
): ActionFacts | undefined {
  const others = stored.map(({ ofDrawing }) => ofDrawing.get(keyOf(name)));
  return [...known, ...others].find((one) => one !== undefined)?.facts;
}
