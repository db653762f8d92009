// Projects (docs/use/api.md, "Projects").
import { z } from 'zod';
import {
  createProject,
  findPoolsOf,
  findProject,
  listProjects,
  listProviderKeys,
  updateProject,
} from '../../db/projects/projects-repository.js';
import { deleteProject } from '../../db/cascades/delete-project.js';
import { reserveId } from '../../db/core/reserve-id.js';
import type { Reach } from '../../db/access/reach.js';
import { nothing } from '../http/answer-schemas.js';
import type { ProjectDeps } from './deps.js';
import { notFound, orNotFound, permissionDenied } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { limitAmount } from '../http/limit-amount.js';
import { mayAct } from '../../acceptance/roles.js';
import { POOL_NAME } from '../../graph/pools.js';
import { projectPoolsSchema, projectSchema, spendingLimitSchema, toProject } from './project-view.js';
import { routesOf, type Route, type RouteResult } from '../http/route.js';
import { isWebhookUrl, refusePrivateWebhook, sealNewSecret, whyRefused } from './webhook-settings.js';

const defineRoute = routesOf<ProjectDeps>();

const fields = {
  name: z.string().trim().min(1).max(255),
  webhook_url: z
    .string()
    .trim()
    .max(2048)
    .refine(isWebhookUrl, { error: ({ input }) => whyRefused(String(input)) }),
  is_webhook_enabled: z.boolean(),
};
const spendingLimit = spendingLimitSchema.extend({ amount: limitAmount });
const poolName = z
  .string()
  .regex(POOL_NAME, { error: 'A pool is named by up to 40 small letters, digits and hyphens.' });
const MAX_POOLS = 100;
const poolFields = {
  pool: poolName.nullable(),
  pools: z
    .array(poolName)
    .max(MAX_POOLS)
    .transform((pools) => [...new Set(pools)]),
};
const projectPath = '/api/v1/projects/:id/';

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/projects/',
  summary: 'Lists the projects that the caller is a member of, newest first.',
  query: z.object({ ...pageQuery(0), name__icontains: z.string().optional() }),
  responses: { 200: envelopeOf(projectSchema) },
  async handler({ deps, caller, query }) {
    const { total, projects } = await listProjects(deps.db, {
      reach: caller,
      nameContains: query.name__icontains || undefined,
      ...toWindow(query),
    });
    const ids = projects.map((project) => project.id);
    const providerKeys = await listProviderKeys(deps.db, ids);
    const items = projects.map((project) => toProject(project, providerKeys, deps.currencies));
    return answerPage(query, total, items);
  },
});

const create = defineRoute({
  method: 'POST',
  path: '/api/v1/projects/',
  summary: 'Creates a project; the caller becomes its owner. A key that is restricted to a project may not.',
  audit: { action: 'project.created', target: 'project', makes: 'id' },
  body: z.object({
    name: fields.name,
    webhook_url: fields.webhook_url.default(''),
    is_webhook_enabled: fields.is_webhook_enabled.default(false),
  }),
  responses: { 201: projectSchema },
  async handler({ deps, caller, body }) {
    if (caller.projectId !== undefined) throw permissionDenied('This key is restricted to one project.');
    refusePrivateWebhook(deps, body.webhook_url);
    const id = await reserveId(deps.db, 'projects');
    const project = await createProject(deps.db, caller.userId, {
      ...body,
      id,
      ...(body.is_webhook_enabled ? { webhook_secret_enc: sealNewSecret(deps.secretBox, id) } : {}),
    });
    return { status: 201, body: toProject(project, [], deps.currencies) };
  },
});

const read = defineRoute({
  method: 'GET',
  path: projectPath,
  summary: 'Returns one project.',
  access: { to: 'project', role: 'viewer' },
  responses: { 200: projectSchema },
  handler: ({ deps, caller, params }) => answerProject(deps, params.id, caller),
});

const update = defineRoute({
  method: 'PATCH',
  path: projectPath,
  summary: 'Changes the name, the webhook, the limit of what the project may spend, or its pools.',
  description:
    '`pool` and `pools` are changed by administrators of the service alone, members or not, in a session (403 for others). ' +
    'One who is no member is answered `{id, name, pool, pools}`.',
  audit: { action: 'project.changed', target: 'project', id: 'id' },
  access: { to: 'project', role: 'admin', orAdministrators: true },
  body: z.object({ ...fields, ...poolFields, spending_limit: spendingLimit.nullable() }).partial(),
  responses: { 200: z.union([projectSchema, projectPoolsSchema]) },
  async handler({ deps, caller, params, body, access }) {
    const { pool, pools, ...others } = body;
    const changesPools = pool !== undefined || pools !== undefined;
    const changesOthers = Object.values(others).some((value) => value !== undefined);
    if (changesPools && access.isAdministrator !== true) {
      throw permissionDenied('Pools are changed by administrators of the service, in a session.');
    }
    if (!mayAct(access.role, 'admin') && (changesOthers || !changesPools)) {
      throw access.isStranger === true && !changesPools ? notFound() : permissionDenied();
    }
    refusePrivateWebhook(deps, body.webhook_url);
    const { spending_limit: limit, ...rest } = body;
    const changes = {
      ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
      ...(limit !== undefined && {
        spending_limit_usd: limit?.amount ?? null,
        spending_period: limit?.period ?? null,
      }),
    };
    if (!(await updateProject(deps.db, params.id, changes, sealNewSecret(deps.secretBox, params.id)))) throw notFound();
    if (access.isStranger === true) return { status: 200, body: orNotFound(await findPoolsOf(deps.db, params.id)) };
    return answerProject(deps, params.id, caller);
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: projectPath,
  summary: 'Deletes the project with its workflows; the books stay.',
  audit: { action: 'project.deleted', target: 'project', id: 'id' },
  access: { to: 'project', role: 'owner' },
  responses: { 204: nothing },
  async handler({ deps, params }) {
    if (!(await deleteProject(deps.db, params.id))) throw notFound();
    return { status: 204 };
  },
});

export const projectRoutes: Route<ProjectDeps>[] = [list, create, read, update, remove];

async function answerProject({ db, currencies }: ProjectDeps, projectId: number, reach: Reach): Promise<RouteResult> {
  const project = orNotFound(await findProject(db, projectId, reach));
  const providerKeys = await listProviderKeys(db, [projectId]);
  return { status: 200, body: toProject(project, providerKeys, currencies) };
}
