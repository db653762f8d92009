// Services: those of the catalogue, and those that a project has made of OpenAPI documents (docs/use/services.md).
import { z } from 'zod';
import {
  deleteService,
  findService,
  findServiceAction,
  insertService,
  listServices,
  lockService,
  MOST_SERVICES,
  pageOfActions,
  replaceService,
  workflowsWithService,
  type ServiceRecord,
} from '../../db/services/services-repository.js';
import { findProjectRole } from '../../db/projects/members-repository.js';
import type { Reach } from '../../db/access/reach.js';
import { findVisible } from '../access/authorize.js';
import { detailSchema, nothing } from '../http/answer-schemas.js';
import { ApiError, notFound, orNotFound } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, queryInteger, toWindow } from '../http/pagination.js';
import { idParams, MAX_ID, uuid } from '../http/path-ids.js';
import { routesOf, type Route } from '../http/route.js';
import { findCatalogueAction, findCatalogueService, searchActions, searchCatalogue } from './catalogue.js';
import type { ServiceDeps } from './deps.js';
import { readService, type GivenService } from './read-service.js';
import { actionSchema, serviceSchema, toAction, toCatalogueService, toProjectService } from './service-view.js';

const defineRoute = routesOf<ServiceDeps>();

const servicesPath = '/api/v1/projects/:id/services/';
const servicePath = `${servicesPath}:service_id/`;
const ofProject = idParams.extend({ service_id: uuid });
const searchQuery = z.string().trim().max(200).optional();

const MAX_BODY_BYTES = 40 * 1024 * 1024;

const serviceBody = z.object({
  openapi: z
    .union([z.record(z.string(), z.unknown()), z.string()])
    .describe('A document as an object, as text in JSON or YAML, or its https address; 20 MiB once decoded'),
  name: z.string().max(200).nullish().describe('The title of the document when absent'),
  server_url: z
    .string()
    .nullish()
    .describe('The address of the service, with the path that all operations have in common; replaces all servers'),
});

const storedSchema = serviceSchema
  .extend({
    warnings: z
      .array(z.object({ operation: z.string(), message: z.string() }))
      .describe('Operations that cannot be called, or not as the document says: by id, or by method and path'),
  })
  .meta({ id: 'StoredService' });

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/services/',
  summary: 'Lists the services of a project by name, followed by those of the catalogue.',
  description:
    'Without `project`, only services of the catalogue are listed. `search` finds services with all its words in their name and description, or in their name and the title of one action.',
  query: z.object({ ...pageQuery(1), project: queryInteger(0, MAX_ID).optional(), search: searchQuery }),
  responses: { 200: envelopeOf(serviceSchema) },
  async handler({ deps, caller, query }) {
    const search = query.search || undefined;
    const own = query.project === undefined ? [] : await ofReach(deps, query.project, caller, search);
    const all = [...own.map(toProjectService), ...searchCatalogue(search).map(toCatalogueService)];
    const { limit, offset } = toWindow(query);
    return answerPage(query, all.length, all.slice(offset, offset + limit));
  },
});

const create = defineRoute({
  method: 'POST',
  path: servicesPath,
  summary: 'Makes a service of an OpenAPI document (3.0, 3.1 or Swagger 2.0).',
  description:
    'Of two operations with one id the second gets another one, made from method and path. References to other ' +
    'documents are not followed. The requests go to the servers of the document, or to `server_url`, over https.',
  audit: { action: 'service.created', target: 'service', makes: 'id', commits: 'handler' },
  access: { to: 'project', role: 'editor' },
  body: serviceBody,
  bodyFormat: 'json-bytes',
  maxBodyBytes: MAX_BODY_BYTES,
  responses: { 201: storedSchema },
  async handler({ deps, caller, params, bodyBytes, memory, signal, audit }) {
    const given = await readService(deps, bodyBytes, { userId: caller.userId, memory, signal });
    const made = await audit.change(
      async (trx) => {
        const stored = await insertService(trx, params.id, given.fields);
        if (stored === 'gone') throw notFound();
        if (stored !== 'too_many') return stored;
        throw new ApiError(400, 'too_many_services', `A project may have ${MOST_SERVICES} services.`);
      },
      { keyOf: ({ id }) => ({ id, projectId: params.id }) },
    );
    return { status: 201, body: toAnswer(made, given) };
  },
});

const replace = defineRoute({
  method: 'PUT',
  path: servicePath,
  summary: 'Replaces the document of a service. Drawings keep what their nodes have stored.',
  description: 'Without `name` the service is called as the new document says.',
  audit: { action: 'service.changed', target: 'service', id: 'service_id', commits: 'handler' },
  access: { to: 'project', role: 'editor' },
  params: ofProject,
  body: serviceBody,
  bodyFormat: 'json-bytes',
  maxBodyBytes: MAX_BODY_BYTES,
  responses: { 200: storedSchema },
  async handler({ deps, caller, params, bodyBytes, memory, signal, audit }) {
    const { id: projectId, service_id: id } = params;
    orNotFound(await findService(deps.db, id, { userId: caller.userId, projectId }));
    const given = await readService(deps, bodyBytes, { userId: caller.userId, memory, signal });
    const stored = await audit.change(
      async (trx) => orNotFound(await replaceService(trx, { projectId, id }, given.fields)),
      { keyOf: () => ({ id, projectId }) },
    );
    return { status: 200, body: toAnswer(stored, given) };
  },
});

const MOST_NAMED = 5;

const remove = defineRoute({
  method: 'DELETE',
  path: servicePath,
  summary: 'Deletes a service. Drawings keep what their nodes have stored.',
  description: 'While workflows use it, 409 `in_use`, unless `force` is `true`.',
  audit: { action: 'service.deleted', target: 'service', id: 'service_id' },
  access: { to: 'project', role: 'editor' },
  params: ofProject,
  query: z.object({ force: z.enum(['true', 'false']).optional() }),
  responses: { 204: nothing, 409: detailSchema },
  async handler({ deps, params, query }) {
    const { id: projectId, service_id: id } = params;
    if (!(await lockService(deps.db, projectId, id))) throw notFound();
    const using = await workflowsWithService(deps.db, projectId, id, MOST_NAMED);
    if (using.length > 0 && query.force !== 'true') throw inUse(using);
    await deleteService(deps.db, projectId, id);
    return { status: 204 };
  },
});

const ofService = z.object({ service_id: z.string().min(1).max(100) });
const ofAction = ofService.extend({ action_id: z.string().min(1).max(300) });

const listActions = defineRoute({
  method: 'GET',
  path: '/api/v1/services/:service_id/actions/',
  summary: 'Lists the actions of a service, in the order of its document.',
  params: ofService,
  query: z.object({ ...pageQuery(1), search: searchQuery }),
  responses: { 200: envelopeOf(actionSchema) },
  async handler({ deps, caller, params, query }) {
    const { service_id: id } = params;
    const search = query.search || undefined;
    const { limit, offset } = toWindow(query);
    const known = findCatalogueService(id);
    if (known !== undefined) {
      const found = searchActions(known, search);
      return answerPage(query, found.length, found.slice(offset, offset + limit).map(toAction));
    }
    const service = await findOwn(deps, id, caller);
    const { total, actions } = await pageOfActions(deps.db, { serviceId: service.id, search, limit, offset });
    return answerPage(query, total, actions.map(toAction));
  },
});

const readAction = defineRoute({
  method: 'GET',
  path: '/api/v1/services/:service_id/actions/:action_id/',
  summary: 'Returns one action with its fields and the schema of its answer.',
  params: ofAction,
  responses: { 200: actionSchema },
  async handler({ deps, caller, params }) {
    const { service_id: serviceId, action_id: id } = params;
    if (findCatalogueService(serviceId) !== undefined) {
      return { status: 200, body: toAction(orNotFound(findCatalogueAction(serviceId, id))) };
    }
    const service = await findOwn(deps, serviceId, caller);
    // A text with characters that no id of an action has is a 404 without a look-up, because a look-up fails if the text
    // has a null character, which PostgreSQL refuses.
    const found = isActionId(id) ? await findServiceAction(deps.db, service.id, id) : undefined;
    return { status: 200, body: toAction(orNotFound(found)) };
  },
});

function isActionId(text: string): boolean {
  return /^[A-Za-z0-9_.-]+$/.test(text);
}

export const serviceRoutes: Route<ServiceDeps>[] = [list, create, replace, remove, listActions, readAction];

async function ofReach(deps: ServiceDeps, projectId: number, reach: Reach, search?: string): Promise<ServiceRecord[]> {
  await findVisible(reach, (within) => findProjectRole(deps.db, projectId, within));
  return listServices(deps.db, projectId, search);
}

async function findOwn(deps: ServiceDeps, text: string, reach: Reach): Promise<ServiceRecord> {
  const id = uuid.safeParse(text);
  if (!id.success) throw notFound();
  return findVisible(reach, (within) => findService(deps.db, id.data, within));
}

function toAnswer(service: ServiceRecord, { warnings }: GivenService): z.infer<typeof storedSchema> {
  return { ...toProjectService(service), warnings };
}

/** `total` is the number of all workflows that use the service. */
function inUse(workflows: { title: string; total: number }[]): ApiError {
  const names = workflows.map(({ title }) => `"${title}"`);
  const unnamed = workflows[0]!.total - names.length;
  const more = unnamed > 0 ? ` and ${unnamed} more` : '';
  return new ApiError(409, 'in_use', `Workflows use the service: ${names.join(', ')}${more}.`);
}
