// The members of a project and their roles.
import { z } from 'zod';
import { addMember, changeRole, dropMember, type MemberOutcome } from '../../db/projects/member-changes.js';
import { findMember, listMembers } from '../../db/projects/members-repository.js';
import { findUser, findUserByEmail, type UserRow } from '../../db/users/users-repository.js';
import { badRequestSchema, nothing } from '../http/answer-schemas.js';
import type { ProjectDeps } from './deps.js';
import { ApiError, invalidFields, notFound, orNotFound, permissionDenied } from '../http/errors.js';
import { emailField, integerField } from '../http/field-errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { idParams, MAX_ID, pathId } from '../http/path-ids.js';
import { routesOf, type Route, type RouteResult } from '../http/route.js';
import { roleSchema } from './project-view.js';

const defineRoute = routesOf<ProjectDeps>();

const membersPath = '/api/v1/projects/:id/members/';
const memberPath = '/api/v1/projects/:id/members/:user_id/';
const memberParams = idParams.extend({ user_id: pathId });

const memberSchema = z.object({
  user_id: z.int(),
  name: z.string(),
  email: z.string().nullable(),
  role: roleSchema,
});

const newMemberBody = z
  .object({ email: emailField(), user_id: integerField() })
  .partial()
  .extend({ role: roleSchema })
  .refine(({ email, user_id }) => (email === undefined) !== (user_id === undefined), {
    error: 'Either email or user_id must be sent.',
  });

const list = defineRoute({
  method: 'GET',
  path: membersPath,
  summary: 'Lists the members of a project, in the order in which they joined.',
  access: { to: 'project', role: 'viewer' },
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(memberSchema) },
  async handler({ deps, params, query }) {
    const { total, members } = await listMembers(deps.db, { projectId: params.id, ...toWindow(query) });
    return answerPage(query, total, members);
  },
});

const add = defineRoute({
  method: 'POST',
  path: membersPath,
  summary: 'Adds a user, named by `email` or `user_id`, with a role. Only owners make owners.',
  audit: { action: 'member.added', target: 'member', makes: 'user_id' },
  access: { to: 'project', role: 'admin' },
  body: newMemberBody,
  responses: { 201: memberSchema },
  async handler({ deps, caller, params, body }) {
    const user = await requireUser(deps, body);
    const change = { projectId: params.id, actorId: caller.userId, userId: user.id };
    const outcome = await addMember(deps.db, { ...change, role: body.role });
    const field = body.email === undefined ? 'user_id' : 'email';
    if (outcome === 'already_member') throw invalidFields({ [field]: ['This user is already a member.'] });
    refuse(outcome);
    return { status: 201, body: { user_id: user.id, name: user.name, email: user.email, role: body.role } };
  },
});

const update = defineRoute({
  method: 'PATCH',
  path: memberPath,
  summary: 'Changes the role of a member. Only owners make owners and change the role of one.',
  description: 'The last owner stays: 400, code `last_owner`.',
  audit: { action: 'member.changed', target: 'member', id: 'user_id' },
  access: { to: 'project', role: 'admin' },
  params: memberParams,
  body: z.object({ role: roleSchema }),
  responses: { 200: memberSchema },
  async handler({ deps, caller, params, body }) {
    const change = { projectId: params.id, actorId: caller.userId, userId: params.user_id };
    refuse(await changeRole(deps.db, { ...change, role: body.role }));
    return answerMember(deps, change);
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: memberPath,
  summary: 'Removes a member. Everybody may leave; only owners remove owners.',
  description: 'The last owner stays: 400, code `last_owner`.',
  audit: { action: 'member.removed', target: 'member', id: 'user_id' },
  access: { to: 'project', role: 'viewer' },
  params: memberParams,
  responses: { 204: nothing, 400: badRequestSchema },
  async handler({ deps, caller, params }) {
    refuse(await dropMember(deps.db, { projectId: params.id, actorId: caller.userId, userId: params.user_id }));
    return { status: 204 };
  },
});

export const memberRoutes: Route<ProjectDeps>[] = [list, add, update, remove];

/** Throws a 400 that names the field if the user does not exist. */
async function requireUser(
  { db }: ProjectDeps,
  { email, user_id: id }: z.infer<typeof newMemberBody>,
): Promise<UserRow> {
  if (email !== undefined) {
    return (await findUserByEmail(db, email)) ?? refuseField('email', 'No user has this e-mail address.');
  }
  const isPossible = id !== undefined && id > 0 && id <= MAX_ID;
  const user = isPossible ? await findUser(db, id) : undefined;
  return user ?? refuseField('user_id', `Invalid pk "${id}" - object does not exist.`);
}

function refuseField(field: string, sentence: string): never {
  throw invalidFields({ [field]: [sentence] });
}

function refuse(outcome: MemberOutcome): void {
  if (outcome === 'not_found') throw notFound();
  if (outcome === 'forbidden') throw permissionDenied();
  if (outcome === 'last_owner') throw new ApiError(400, 'last_owner', 'A project needs an owner.');
}

async function answerMember(
  { db }: ProjectDeps,
  { projectId, userId }: { projectId: number; userId: number },
): Promise<RouteResult> {
  const member = orNotFound(await findMember(db, projectId, userId));
  return { status: 200, body: member };
}
