// Offers an action of a service like a kind of node: as an HTTP node whose start values name the action.
import { createContext, use } from 'react';
import { isObject, type JsonObject } from '../../graph/json.js';
import type { FoundAction } from '../service/services.js';
import { parseExact } from '../ui/json.js';
import { startValue } from './change-drawing.js';
import type { NodeKind, NodeKinds } from './drawing.js';

const HTTP = 'http-node';
/** The fields of an HTTP node that an action replaces. */
const OF_ADDRESS = ['url', 'method', 'headers', 'body'];

/** The project whose services the editor offers, beside those of the catalogue. */
export const ProjectContext = createContext<number | undefined>(undefined);

/** Returns the project of the editor. */
export function useProjectId(): number {
  const id = use(ProjectContext);
  if (id === undefined) throw new Error('This part is outside an editor');
  return id;
}

/** The parts of a dragged or chosen action that a new node needs. */
interface DrawnAction {
  service: string;
  id: string;
  title: string;
}

export function toDrawn({ service, action }: FoundAction): DrawnAction {
  return { service: service.id, id: action.id, title: action.title };
}

/** Returns undefined if `kinds` has no HTTP node. */
export function kindOfAction(kinds: NodeKinds, { service, id, title }: DrawnAction): NodeKind | undefined {
  const http = kinds.get(HTTP);
  if (http === undefined) return undefined;
  const initial = Object.entries(startValue(http.schema) as JsonObject).filter(([key]) => !OF_ADDRESS.includes(key));
  const start = { ...Object.fromEntries(initial), action: { service, id }, values: {} };
  return { ...http, title, schema: { ...http.schema, start } };
}

/** Drag-and-drop format of a kind: the `type` of its nodes. */
export const KIND_FORMAT = 'application/x-node-kind';
/** Drag-and-drop format of an action: a `DrawnAction` as JSON. */
export const ACTION_FORMAT = 'application/x-service-action';

/** Returns what is dropped; undefined if it is neither a kind nor an action. */
export function kindOfDrop(kinds: NodeKinds, dropped: Pick<DataTransfer, 'getData'>): NodeKind | undefined {
  const action = toAction(dropped.getData(ACTION_FORMAT));
  return action === undefined ? kinds.get(dropped.getData(KIND_FORMAT)) : kindOfAction(kinds, action);
}

/** Returns undefined if the text is not a `DrawnAction`, because other pages may drop any text. */
function toAction(text: string): DrawnAction | undefined {
  if (text === '') return undefined;
  try {
    const value: unknown = parseExact(text);
    if (!isObject(value)) return undefined;
    const { service, id, title } = value;
    if (typeof service !== 'string' || typeof id !== 'string' || typeof title !== 'string') return undefined;
    return { service, id, title };
  } catch {
    return undefined;
  }
}
