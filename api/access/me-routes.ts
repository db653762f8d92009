import { findUser } from '../../db/projects/users-repository.js';
import { keyErrors } from '../http/answer-schemas.js';
import { notFound } from '../http/errors.js';
import { defineRoute, type Route } from '../http/route.js';
import { meSchema, toMe } from './user-view.js';

const read = defineRoute({
  method: 'GET',
  path: '/api/v1/me/',
  summary: 'The user of the credentials.',
  auth: 'key',
  keyScope: 'run',
  responses: { 200: meSchema, ...keyErrors },
  async handler({ deps, caller }) {
    const user = await findUser(deps.db, caller.userId);
    if (user === undefined) throw notFound();
    return { status: 200, body: toMe(user) };
  },
});

export const meRoutes: Route[] = [read];
