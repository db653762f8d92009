// The actions that a drawing names: in the data of HTTP nodes, and among the tools of agents. Only this product writes
// the facts of an action (`ActionFacts`), never a client; they are stored with the drawing.
import { inKeyOrder, isObject, ownValue, type JsonObject } from '../json.js';
import { writeJson } from '../json-text.js';
import { mapArray, mapObject } from '../secrets.js';
import { actionOfTool, FACTS_OF_TOOL, readAction, type ActionFacts } from './action.js';

interface ActionPlace {
  nodeId: unknown;
  /** The path inside the node's data: `action`, or `tools.<index>`. */
  path: string;
}

/**
 * `action` has the service, the id and the stored facts, in the form of `data.action` of an HTTP node. `owner` is the
 * node's data or the tool, which has the `values`.
 */
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

/** Returns the drawing without the facts of its actions, as a client that knows only their names would send it. */
export function drawingWithoutFacts(drawing: JsonObject): JsonObject {
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
 * Returns the distinct services that `document`, a drawing as JSON text, names; UUIDs are in lower case, as in the
 * database. Parses the text only if it may name some, because few drawings do.
 */
export function serviceIdsOf(document: string): string[] {
  if (!document.includes('"service"')) return [];
  const drawing: unknown = JSON.parse(document);
  return isObject(drawing) ? [...new Set(actionsIn(drawing).map(({ service }) => service.toLowerCase()))] : [];
}

/**
 * Returns the drawing with the facts of its actions. The facts of an action are the first of: (1) the facts that an
 * `earlier` drawing has at the same node, if that node names the same action with the same `values` and `refresh` is
 * not set; (2) what `find` returns; (3) facts of the action in `earlier`, those at the same node before others. Facts
 * that the drawing itself contains are dropped. `earlier` are masked drawings, so `values` are equal only if `drawing`
 * has `********` for each of their secrets.
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
    return { ...name, ...(kept ?? find({ service, id }) ?? fallbackFacts(stored, known, { service, id })) };
  });
}

/** Returns the actions for which `withActions` calls `find`. */
export function actionsToFind(drawing: JsonObject, earlier: readonly JsonObject[]): ActionName[] {
  const names = new Map<string, ActionName>();
  withActions(drawing, earlier, (name) => {
    names.set(keyOf(name), name);
    return undefined;
  });
  return [...names.values()];
}

interface StoredAction {
  values: unknown;
  /** `toComparable(values)`, once it was needed. */
  comparable?: string;
  facts: ActionFacts;
}

/**
 * The stored actions by name; the first counts where a name occurs twice. A search through a list for each action would
 * take quadratic time, and a client decides how many actions a drawing has.
 */
interface StoredActions {
  /** By node id, without the position of a tool, because the tools of an agent may have changed their order. */
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

/** `known`: the action that each earlier drawing has stored at the node, in the order of the drawings. */
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
 * Writes `values` as text in which the order of keys does not matter. A client may send many nodes with the id of the
 * node that stores an action, and each of them is compared with that action. The text of the stored values is made only
 * once, whereas `isEqualJson` would go through the stored values each time.
 */
function toComparable(values: unknown): string {
  return writeJson(inKeyOrder(values ?? {}));
}

/**
 * Facts that are stored at the node itself come first, because the credentials in its values were entered for the
 * server of these facts.
 */
function fallbackFacts(
  stored: readonly StoredActions[],
  known: readonly (StoredAction | undefined)[],
  name: ActionName,
): ActionFacts | undefined {
  const others = stored.map(({ ofDrawing }) => ofDrawing.get(keyOf(name)));
  return [...known, ...others].find((one) => one !== undefined)?.facts;
}
