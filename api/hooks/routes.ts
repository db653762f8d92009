// Routes that manage hooks. A hook is an address at which another service starts runs of a workflow without a key
// (docs/use/starts.md); delivery-routes.ts receives the deliveries.
import { z } from 'zod';
import {
  deleteHook,
  findHook,
  insertHook,
  MOST_HOOKS,
  pageOfHooks,
  replaceHookSecret,
} from '../../db/hooks/hooks-repository.js';
import { reserveId } from '../../db/core/reserve-id.js';
import { randomToken } from '../../db/core/random-token.js';
import { nothing } from '../http/answer-schemas.js';
import { ApiError, invalidFields, notFound, orNotFound } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { idParams, pathId } from '../http/path-ids.js';
import type { HookDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { checkHookSecret, createHookSecret, DEFAULT_HEADER } from './verify-signature.js';
import { hookSchema, projectHookSchema, shownHookSchema, toHook, verification } from './hook-view.js';

const defineRoute = routesOf<HookDeps>();

const hooksPath = '/api/v1/workflows/:id/hooks/';
const hookPath = '/api/v1/workflows/:id/hooks/:hook_id/';
const hookParams = idParams.extend({ hook_id: pathId });

const FIELD_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const secretField = z.string().min(1).max(500);

const bodySchema = z.object({
  verify: verification.describe('How a sender proves that it has the secret'),
  header: z
    .string()
    .max(100)
    .regex(FIELD_NAME, 'Enter the name of a header.')
    .nullish()
    .describe(`Of \`hmac-sha256\`: the header with the signature, ${DEFAULT_HEADER} where none is given`),
  secret: secretField.nullish().describe('One that the sender has already; without it a new one is made'),
});

const list = defineRoute({
  method: 'GET',
  path: hooksPath,
  summary: 'Lists the hooks of the workflow, oldest first; an address is shown to its author and to owners.',
  access: { to: 'workflow', role: 'viewer' },
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(hookSchema) },
  async handler({ deps, caller, access, params, query }) {
    const reader = { userId: caller.userId, role: access.role };
    const { total, hooks } = await pageOfHooks(deps.db, { workflowId: params.id }, toWindow(query));
    const items = hooks.map((hook) => toHook(deps, hook, reader));
    return answerPage(query, total, items);
  },
});

const listOfProject = defineRoute({
  method: 'GET',
  path: '/api/v1/projects/:id/hooks/',
  summary: 'Lists the hooks of all workflows of the project, those of a workflow together, oldest first.',
  access: { to: 'project', role: 'viewer' },
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(projectHookSchema) },
  async handler({ deps, caller, access, params, query }) {
    const reader = { userId: caller.userId, role: access.role };
    const { total, hooks } = await pageOfHooks(deps.db, { projectId: params.id }, toWindow(query));
    const items = hooks.map((hook) => ({
      ...toHook(deps, hook, reader),
      workflow: { id: hook.workflowId, title: hook.workflowTitle },
    }));
    return answerPage(query, total, items);
  },
});

const create = defineRoute({
  method: 'POST',
  path: hooksPath,
  summary: 'Makes a hook, which starts runs in the name of the caller. Its secret is shown once.',
  audit: { action: 'hook.created', target: 'hook', makes: 'id' },
  access: { to: 'workflow', role: 'editor' },
  body: bodySchema,
  responses: { 201: shownHookSchema },
  async handler({ deps, caller, access, params, body }) {
    const { header, secret } = settingsOf(body);
    const token = randomToken();
    const id = await reserveId(deps.db, 'hooks');
    const made = await insertHook(deps.db, {
      id,
      projectId: access.projectId,
      workflowId: params.id,
      authorId: caller.userId,
      verify: body.verify,
      header,
      token,
      tokenEnc: deps.secretBox.seal(token, 'hook-token', id),
      secretEnc: secret === undefined ? null : deps.secretBox.seal(secret, 'hook-secret', id),
    });
    if (made === 'gone') throw notFound();
    if (made === 'too_many') throw new ApiError(400, 'too_many_hooks', `A workflow may have ${MOST_HOOKS} hooks.`);
    return {
      status: 201,
      body: {
        ...toHook(deps, made, { userId: caller.userId, role: access.role }),
        ...(secret !== undefined && { secret }),
      },
    };
  },
});

const renewSecret = defineRoute({
  method: 'PATCH',
  path: hookPath,
  summary: 'Replaces the secret of a hook: by one that the sender has, or by a new one. It is shown once.',
  description: 'The one before is refused from then on. 400 for a hook that asks for no signatures.',
  audit: { action: 'hook.changed', target: 'hook', id: 'hook_id' },
  access: { to: 'workflow', role: 'editor' },
  params: hookParams,
  body: z.object({ secret: secretField.nullable().describe('Null: a new one is made') }),
  responses: { 200: shownHookSchema },
  async handler({ deps, caller, access, params, body }) {
    const { id: workflowId, hook_id: hookId } = params;
    const hook = orNotFound(await findHook(deps.db, workflowId, hookId));
    if (hook.verify === 'none') throw invalidFields({ secret: [NOTHING_SIGNED] });
    if (body.secret !== null) checkHookSecret(hook.verify, body.secret);
    const secret = body.secret ?? createHookSecret(hook.verify);
    const secretEnc = deps.secretBox.seal(secret, 'hook-secret', hookId);
    if (!(await replaceHookSecret(deps.db, { workflowId, hookId, secretEnc }))) throw notFound();
    const reader = { userId: caller.userId, role: access.role };
    return { status: 200, body: { ...toHook(deps, hook, reader), secret } };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: hookPath,
  summary: 'Deletes a hook: its address is a 404 from then on. Runs that it has started go on.',
  audit: { action: 'hook.deleted', target: 'hook', id: 'hook_id' },
  access: { to: 'workflow', role: 'editor' },
  params: hookParams,
  responses: { 204: nothing },
  async handler({ deps, params }) {
    if (!(await deleteHook(deps.db, params.id, params.hook_id))) throw notFound();
    return { status: 204 };
  },
});

export const hookRoutes: Route<HookDeps>[] = [list, listOfProject, create, renewSecret, remove];

const NOTHING_SIGNED = 'The hook asks for no signatures.';

/**
 * Returns the header and the secret to store, with a new secret if one is needed and none is given. Throws 400 for
 * fields that do not belong to the kind of verification, and for malformed secrets.
 */
function settingsOf({ verify, header, secret }: z.infer<typeof bodySchema>): {
  header: string | null;
  secret: string | undefined;
} {
  if (verify !== 'hmac-sha256' && typeof header === 'string') {
    throw invalidFields({ header: ['Only hmac-sha256 has a header to choose.'] });
  }
  if (verify === 'none') {
    if (typeof secret === 'string') throw invalidFields({ secret: [NOTHING_SIGNED] });
    return { header: null, secret: undefined };
  }
  if (typeof secret === 'string') checkHookSecret(verify, secret);
  const chosen = verify === 'hmac-sha256' ? (header ?? DEFAULT_HEADER) : null;
  return { header: chosen, secret: secret ?? createHookSecret(verify) };
}
