// Actions of services for `find_nodes` and `describe_node`: those of the catalogue, and those of a project's services.
import { actionExampleOf } from '../../graph/building/action-example.js';
import { ORDINARY_EXIT } from '../../graph/building/node-links.js';
import { serverFor } from '../../graph/actions/action.js';
import { cutText } from '../../graph/cut-text.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { httpNode } from '../../graph/nodes/http.js';
import { ApiError } from '../http/errors.js';
import { catalogue } from '../services/catalogue.js';
import type { actionSchema, serviceSchema } from '../services/service-view.js';
import type { z } from 'zod';
import { readConnections } from './connection-tools.js';
import { cutToFit } from './cut-schema.js';
import { ToolError, type ToolContext } from './tool.js';

type Service = Pick<z.infer<typeof serviceSchema>, 'id' | 'name' | 'source'>;
type Action = z.infer<typeof actionSchema>;

export interface AskedActions {
  project: number | undefined;
  query: string;
}

interface FoundAction {
  id: string;
  action: { service: string; id: string };
  title: string;
  line: string;
}

const LINE = 200;
/**
 * The limit on the actions that are read of one service of a project, because a project may have 200 services, each
 * with thousands of actions. The first word of the query selects these actions, unless the name of the service contains
 * that word.
 */
const MOST_OF_SERVICE = 100;
/** The largest page of a list. */
const PAGE = 100;

export async function actionsOf({ calls }: ToolContext, { project, query }: AskedActions): Promise<FoundAction[]> {
  const found = catalogue.flatMap((service) => service.actions.map((action) => toFound(service, action)));
  if (project === undefined) return found;
  const search = query.trim().split(/\s+/)[0] ?? '';
  const services: Service[] = [];
  for (let page = 1, isLast = false; !isLast; page += 1) {
    const { items } = await calls.json<{ items: Service[] }>('GET /api/v1/services/', {
      query: { project: String(project), size: String(PAGE), page: String(page) },
    });
    services.push(...items);
    isLast = items.length < PAGE;
  }
  const size = String(MOST_OF_SERVICE);
  const own: FoundAction[] = [];
  for (const service of services.filter(({ source }) => source === 'project')) {
    const named = matches(service.name, search) ? '' : search;
    const { items } = await calls.json<{ items: Action[] }>('GET /api/v1/services/:service_id/actions/', {
      params: { service_id: service.id },
      query: { size, ...(named !== '' && { search: named }) },
    });
    own.push(...items.map((action) => toFound(service, action)));
    calls.end();
  }
  return [...own, ...found];
}

function matches(text: string, word: string): boolean {
  return text.toLowerCase().includes(word.toLowerCase());
}

function toFound(service: Pick<Service, 'id' | 'name'>, action: Pick<Action, 'id' | 'title' | 'description'>) {
  return {
    id: `${service.id}/${action.id}`,
    action: { service: service.id, id: action.id },
    title: cutText(`${service.name}: ${action.title}`, LINE),
    line: cutText(action.description, LINE),
  };
}

const VALUES = 'By field of the action; each value may hold variables';
/** A longer schema is cut (`cut-schema.ts`), because an answer has at most 25 KiB. */
const SCHEMA_BYTES = 8 * 1024;

export async function describeAction(
  { calls }: ToolContext,
  { service, action: id, project }: Record<'service' | 'action', string | undefined> & { project: number | undefined },
) {
  if (service === undefined || id === undefined) throw new ToolError('An action has a service and an id: name both.');
  const action = await readAction(calls, service, id);
  const { title, description, fields, result, server } = action;
  const effects = action.has_side_effects ? 'It has side effects.' : 'It has no side effects.';
  const values = cutToFit(withoutPlaces(fields), SCHEMA_BYTES);
  const json = cutToFit(result ?? {}, SCHEMA_BYTES);
  return {
    kind: httpNode.type,
    title,
    description:
      `${description} ${effects} Server: ${server}. Add it with \`action\`; its data has \`values\` and \`connection\`.`.trim(),
    schema: {
      type: 'object',
      properties: {
        values: { ...values.schema, description: `${VALUES}${values.mark}` },
        connection: { type: 'integer', description: 'The id of a connection of the service' },
      },
    },
    result: {
      type: 'object',
      properties: {
        content: { type: 'string' },
        status_code: { type: 'integer' },
        json: json.mark === '' ? json.schema : { ...json.schema, description: `The answer${json.mark}` },
      },
    },
    exits: [
      { id: ORDINARY_EXIT, label: 'Next' },
      { id: 'error', label: 'With on_error: branch' },
    ],
    needs: ['connection' as const],
    variables: [],
    example: actionExampleOf({ service, id }, action, await connectionFor(calls, action, project)),
  };
}

async function readAction(calls: ToolContext['calls'], service: string, id: string): Promise<Action> {
  try {
    return await calls.json<Action>('GET /api/v1/services/:service_id/actions/:action_id/', {
      params: { service_id: service, action_id: id },
    });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    throw new ToolError('There is no such action of a service. find_nodes lists them.');
  }
}

/**
 * Returns the first connection of the project, by name, whose credential may go to the server of the action. Returns
 * undefined if the caller may not see the connections: viewers may read about actions.
 */
async function connectionFor(
  calls: ToolContext['calls'],
  action: Action,
  project: number | undefined,
): Promise<number | undefined> {
  if (project === undefined) return undefined;
  const connections = await readConnections(calls, project).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 403) return [];
    throw error;
  });
  return connections.find(({ origins }) => {
    const server = serverFor(action, origins);
    return server !== undefined && origins.includes(new URL(server).origin);
  })?.id;
}

/** Removes the `x-` keywords, which say where and how a value is written into the request. */
function withoutPlaces(schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isObject(properties)) return schema;
  const fields = Object.entries(properties).map(([key, field]): [string, unknown] => [
    key,
    isObject(field) ? Object.fromEntries(Object.entries(field).filter(([name]) => !name.startsWith('x-'))) : field,
  ]);
  return { ...schema, properties: Object.fromEntries(fields) };
}
