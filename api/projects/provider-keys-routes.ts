// A project's own keys for model providers. Answers show a key only masked.
import { z } from 'zod';
import {
  attachProviderKey,
  detachProviderKey,
  MOST_PROVIDER_KEYS,
  pageOfProviderKeys,
} from '../../db/projects/provider-keys-repository.js';
import { nothing } from '../http/answer-schemas.js';
import type { ProjectDeps } from './deps.js';
import { ApiError, invalidFields, notFound } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { idParams, pathId } from '../http/path-ids.js';
import { routesOf, type Route } from '../http/route.js';
import { providerKeySchema, toProviderKey } from './project-view.js';

const defineRoute = routesOf<ProjectDeps>();

const keysPath = '/api/v1/projects/:id/provider-keys/';

/** Providers receive a key in a header, which carries visible ASCII only. */
const KEY = /^[\x21-\x7e]*$/;

const list = defineRoute({
  method: 'GET',
  path: keysPath,
  summary: "Lists the project's own keys for model providers, masked; the newest of a provider is used.",
  access: { to: 'project', role: 'viewer' },
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(providerKeySchema) },
  async handler({ deps, params, query }) {
    const { total, keys } = await pageOfProviderKeys(deps.db, { projectId: params.id, ...toWindow(query) });
    return answerPage(query, total, keys.map(toProviderKey));
  },
});

const attach = defineRoute({
  method: 'POST',
  path: keysPath,
  summary: 'Stores a key for a model provider; the runs of the project use it from now on.',
  audit: { action: 'provider_key.added', target: 'provider_key', makes: 'id' },
  access: { to: 'project', role: 'admin' },
  body: z.object({
    provider: z.string().trim().min(1).max(100).describe('The name of a provider, as the operator has configured it.'),
    key: z.string().trim().min(1).max(4096).regex(KEY, 'Enter a valid key.'),
    name: z.string().trim().max(100).default(''),
  }),
  responses: { 201: providerKeySchema },
  async handler({ deps, params, body }) {
    checkProvider(deps, body.provider);
    const attached = await attachProviderKey(deps.db, deps.secretBox, { projectId: params.id, ...body });
    if (attached === 'gone') throw notFound();
    if (attached === 'too_many') {
      throw new ApiError(400, 'too_many_keys', `A project may have ${MOST_PROVIDER_KEYS} provider keys.`);
    }
    return { status: 201, body: toProviderKey(attached) };
  },
});

const detach = defineRoute({
  method: 'DELETE',
  path: '/api/v1/projects/:id/provider-keys/:key_id/',
  summary: 'Deletes a key for a model provider; later calls use an older one, or that of the platform.',
  audit: { action: 'provider_key.removed', target: 'provider_key', id: 'key_id' },
  access: { to: 'project', role: 'admin' },
  params: idParams.extend({ key_id: pathId }),
  responses: { 204: nothing },
  async handler({ deps, params }) {
    if (!(await detachProviderKey(deps.db, params.key_id, params.id))) throw notFound();
    return { status: 204 };
  },
});

export const providerKeyRoutes: Route<ProjectDeps>[] = [list, attach, detach];

/**
 * Throws 400 for a name that is not the provider of a model. The key of a misspelt name would never be used, and runs
 * would silently use the platform's key.
 */
function checkProvider({ models }: ProjectDeps, provider: string): void {
  const names = new Set([...models.models.values()].map((model) => model.provider.name));
  if (names.has(provider)) return;
  const known = [...names].toSorted().join(', ');
  const sentence = names.size === 0 ? 'This service has no model provider.' : `Enter one of: ${known}.`;
  throw invalidFields({ provider: [sentence] });
}
