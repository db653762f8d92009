// Receives the callback that a node waits for (docs/use/nodes.md, "Wait").
import { z } from 'zod';
import { deliverWake } from '../../acceptance/wake-run.js';
import { acceptCallback, findCallback } from '../../db/waits/callbacks-repository.js';
import type { NodeKey } from '../../graph/plan.js';
import { detailSchema } from '../http/answer-schemas.js';
import { type ApiError, gone, notFound, orNotFound } from '../http/errors.js';
import type { CallbackDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';

const defineRoute = routesOf<CallbackDeps>();

/** 32 random bytes in base64url. Any other text is answered as unknown, without a query. */
const TOKEN = /^[\w-]{43}$/;

const callback = defineRoute({
  method: 'POST',
  path: '/api/v1/callbacks/:token/',
  summary: 'Answers a node that waits for a callback. The first answer counts.',
  description:
    'The token is all that is needed: whoever knows the address may answer, once. The body is any text; later nodes ' +
    'read it as `{{ NODE_ID.result.content }}`, and its fields where it is JSON. An answer that comes before the node ' +
    'waits is kept. 410: the run has ended, or the time to answer is over.',
  auth: 'open',
  audit: { action: 'callback.accepted', target: 'run', via: 'callback', commits: 'handler' },
  params: z.object({ token: z.string() }),
  bodyFormat: 'text',
  body: z.string(),
  responses: { 200: z.object({ accepted: z.boolean() }), 410: detailSchema },
  async admit({ deps, params }) {
    const known = orNotFound(TOKEN.test(params.token) ? await findCallback(deps.db, params.token) : undefined);
    const isRepeated = known.isOpen && known.isAnswered;
    if (!known.isAwaited && !isRepeated) throw tooLate();
    return { found: undefined, tenant: `project:${known.projectId}` };
  },
  async handler({ deps, log, params, body, audit }) {
    const seal = ({ runId, path, nodeId }: NodeKey): Buffer =>
      deps.secretBox.seal(body, 'callback-answer', runId, path, nodeId);
    const outcome = await audit.change((trx) => acceptCallback(trx, params.token, seal), {
      keyOf: (accepted) => (accepted.status === 'accepted' ? { id: accepted.wait.runId } : undefined),
    });
    if (outcome.status === 'unknown') throw notFound();
    if (outcome.status === 'too_late') throw tooLate();
    if (outcome.status === 'accepted') await deliverWake({ ...deps, logger: log }, outcome.wait);
    return { status: 200, body: { accepted: outcome.status === 'accepted' } };
  },
});

export const callbackRoutes: Route<CallbackDeps>[] = [callback];

function tooLate(): ApiError {
  return gone('The run has ended, or the time to answer is over.');
}
