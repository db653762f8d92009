// The connections of a project: credentials that its drawings name and never contain (docs/use/connections.md).
import { z } from 'zod';
import { deliverWakes } from '../../acceptance/wake-run.js';
import { ADDRESS_SETTINGS, needsSignIn } from '../../connections/kinds.js';
import {
  changeConnection,
  deleteConnection,
  findConnection,
  insertConnection,
  lockConnection,
  MOST_CONNECTIONS,
  openRunsWith,
  pageOfConnections,
  pageToAuthorize,
  workflowsWith,
} from '../../db/connections/connections-repository.js';
import { reserveId } from '../../db/core/reserve-id.js';
import { lockProject } from '../../db/projects/lock-project.js';
import { MASK } from '../../graph/mask-text.js';
import { detailSchema, nothing } from '../http/answer-schemas.js';
import { ApiError, invalidFields, notFound, orNotFound } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { idParams, pathId } from '../http/path-ids.js';
import type { ConnectionDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { changedConnectionBody, checkEntered, newConnectionBody } from './connection-body.js';
import { connectionSchema, openEntered, otherForm, toConnection, withStored } from './connection-view.js';

const defineRoute = routesOf<ConnectionDeps>();

const connectionsPath = '/api/v1/projects/:id/connections/';
export const connectionPath = `${connectionsPath}:connection_id/`;
export const connectionParams = idParams.extend({ connection_id: pathId });

const list = defineRoute({
  method: 'GET',
  path: connectionsPath,
  summary: 'Lists the connections of the project, by name.',
  access: { to: 'project', role: 'editor' },
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(connectionSchema) },
  async handler({ deps, params, query }) {
    const { total, connections } = await pageOfConnections(deps.db, { projectId: params.id, ...toWindow(query) });
    const items = connections.map((connection) => toConnection(deps.secretBox, connection));
    return answerPage(query, total, items);
  },
});

const create = defineRoute({
  method: 'POST',
  path: connectionsPath,
  summary: 'Makes a connection. One of OAuth begins without an authorization (`authorize/`).',
  audit: { action: 'connection.created', target: 'connection', makes: 'id' },
  access: { to: 'project', role: 'admin' },
  body: newConnectionBody,
  responses: { 201: connectionSchema },
  async handler({ deps, params, body }) {
    const { name, kind } = body;
    // A new connection has no stored secrets that a mask could stand for, so a masked secret counts as missing.
    const { secrets, ...entered } = checkEntered(deps, kind, { ...body, secrets: withStored(body.secrets, {}) });
    const id = await reserveId(deps.db, 'connections');
    const made = await insertConnection(deps.db, {
      id,
      projectId: params.id,
      name,
      kind,
      ...entered,
      secretsEnc: deps.secretBox.seal(JSON.stringify(secrets), 'connection-secrets', params.id, id),
      status: needsSignIn(kind) ? 'needs_authorization' : 'ready',
    });
    if (made === 'gone') throw notFound();
    if (made === 'taken') throw nameTaken();
    if (made === 'too_many') {
      throw new ApiError(400, 'too_many_connections', `A project may have ${MOST_CONNECTIONS} connections.`);
    }
    return { status: 201, body: toConnection(deps.secretBox, made) };
  },
});

const read = defineRoute({
  method: 'GET',
  path: connectionPath,
  summary: 'Returns one connection.',
  access: { to: 'project', role: 'editor' },
  params: connectionParams,
  responses: { 200: connectionSchema },
  async handler({ deps, params }) {
    const found = orNotFound(await findConnection(deps.db, params.id, params.connection_id));
    return { status: 200, body: toConnection(deps.secretBox, found) };
  },
});

const update = defineRoute({
  method: 'PATCH',
  path: connectionPath,
  summary: 'Changes a connection. A secret that is left out, or ********, keeps its value.',
  description:
    'A change of `origins`, `token_url`, `authorize_url` or `server_url` brings the secrets again, and takes the ' +
    'authorization away: a secret is never sent to an address for which it was not entered. Null removes an optional secret.',
  audit: { action: 'connection.changed', target: 'connection', id: 'connection_id' },
  access: { to: 'project', role: 'admin' },
  params: connectionParams,
  body: changedConnectionBody,
  responses: { 200: connectionSchema },
  async handler({ deps, params, body }) {
    const { id: projectId, connection_id: id } = params;
    // The lock keeps other requests from giving another connection of the project the same name meanwhile.
    if (!(await lockProject(deps.db, projectId))) throw notFound();
    const stored = orNotFound(await lockConnection(deps.db, projectId, id));
    const before = openEntered(deps.secretBox, { id, projectId, secretsEnc: stored.secrets_enc });
    const merged = {
      origins: body.origins ?? stored.origins,
      settings: body.settings ?? stored.settings,
      secrets: withStored(body.secrets, before),
    };
    const { secrets, ...entered } = checkEntered(deps, stored.kind, merged);
    const movesSecrets =
      !isSame(entered.origins, stored.origins) ||
      ADDRESS_SETTINGS.some((key) => entered.settings[key] !== stored.settings[key]);
    if (movesSecrets && !areAllNew(before, body.secrets)) {
      throw invalidFields({ secrets: ['Enter the secrets again: their addresses have changed.'] });
    }
    const isOther = !isSame(secrets, before) || !isSame(entered.settings, stored.settings);
    const status = movesSecrets && needsSignIn(stored.kind) ? 'needs_authorization' : stored.status;
    const outcome = await changeConnection(deps.db, {
      id,
      projectId,
      name: body.name ?? stored.name,
      ...entered,
      secretsEnc: deps.secretBox.seal(JSON.stringify(secrets), 'connection-secrets', projectId, id),
      movesSecrets,
      status: status === 'failing' && isOther ? 'ready' : status,
    });
    if (outcome === 'taken') throw nameTaken();
    const changed = orNotFound(await findConnection(deps.db, projectId, id));
    return { status: 200, body: toConnection(deps.secretBox, changed) };
  },
});

const MOST_LISTED = 100;

const remove = defineRoute({
  method: 'DELETE',
  path: connectionPath,
  summary: 'Deletes a connection. Nodes that name it fail with `connection_missing` from then on.',
  description: 'One that workflows name is a 409 that names them, unless `force=true`.',
  audit: { action: 'connection.deleted', target: 'connection', id: 'connection_id', commits: 'handler' },
  access: { to: 'project', role: 'admin' },
  params: connectionParams,
  query: z.object({ force: z.enum(['true', 'false']).optional() }),
  responses: { 204: nothing, 409: detailSchema },
  async handler({ deps, log, params, query, audit }) {
    const { id: projectId, connection_id: id } = params;
    const woken = await audit.change(async (trx) => {
      orNotFound(await lockConnection(trx, projectId, id));
      const using = await workflowsWith(trx, projectId, id).limit(MOST_LISTED).execute();
      if (using.length > 0 && query.force !== 'true') throw inUse(using);
      return deleteConnection(trx, projectId, id);
    });
    await deliverWakes({ ...deps, logger: log }, woken);
    return { status: 204 };
  },
});

const usedBy = defineRoute({
  method: 'GET',
  path: `${connectionPath}used-by/`,
  summary: 'Lists the workflows that name the connection, and the open runs that have used it or wait for it.',
  access: { to: 'project', role: 'editor' },
  params: connectionParams,
  responses: {
    200: z.object({
      workflows: z.array(z.object({ id: z.int(), title: z.string() })),
      runs: z.array(z.object({ id: z.string(), workflow: z.int(), waits: z.boolean() })).describe('The newest 100'),
    }),
  },
  async handler({ deps, params }) {
    const { id: projectId, connection_id: id } = params;
    orNotFound(await findConnection(deps.db, projectId, id));
    const workflows = await workflowsWith(deps.db, projectId, id).execute();
    return { status: 200, body: { workflows, runs: await openRunsWith(deps.db, projectId, id, MOST_LISTED) } };
  },
});

const toAuthorize = defineRoute({
  method: 'GET',
  path: '/api/v1/connections/',
  summary:
    'Lists the connections for which somebody has to sign in again, of all projects whose owner or admin the caller is.',
  description: 'A connection is listed once a run waits for it, or its grant was lost.',
  query: z.object({ ...pageQuery(1), status: z.literal('needs_authorization').optional() }),
  responses: {
    200: envelopeOf(
      connectionSchema.extend({ project: z.object({ id: z.int(), name: z.string() }), waiting_runs: z.int() }),
    ),
  },
  async handler({ deps, caller, query }) {
    const { total, connections } = await pageToAuthorize(deps.db, { reach: caller, ...toWindow(query) });
    const items = connections.map((connection) => ({
      ...toConnection(deps.secretBox, connection),
      project: { id: connection.projectId, name: connection.projectName },
      waiting_runs: connection.waitingRuns,
    }));
    return answerPage(query, total, items);
  },
});

export const connectionRoutes: Route<ConnectionDeps>[] = [list, create, read, update, remove, usedBy, toAuthorize];

function nameTaken(): ApiError {
  return invalidFields({ name: ['A connection of this project has the name.'] });
}

function inUse(workflows: { id: number; title: string }[]): ApiError {
  const names = workflows.slice(0, 5).map(({ title }) => `"${title}"`);
  const more = workflows.length > names.length ? ` and ${workflows.length - names.length} more` : '';
  const message = `Workflows use the connection: ${names.join(', ')}${more}.`;
  return new ApiError(409, 'in_use', message);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * True if every stored secret was removed or entered again, as `value` or as `values`. Each value of a list must be
 * entered.
 */
function areAllNew(stored: Record<string, unknown>, sent: Record<string, unknown> = {}): boolean {
  return Object.keys(stored).every((name) => {
    const value = sent[name] === undefined ? sent[otherForm(name) ?? name] : sent[name];
    return value !== undefined && ![value].flat().includes(MASK);
  });
}
