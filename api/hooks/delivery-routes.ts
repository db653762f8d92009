// Receives deliveries: requests of other services to the address of a hook, which start runs (docs/use/starts.md).
import { z } from 'zod';
import { mayRun } from '../../acceptance/roles.js';
import type { Logger } from '../../telemetry/logger.js';
import {
  countDelivery,
  findAddressedHook,
  noteDelivery,
  type DeliveryKind,
  type AddressedHook,
} from '../../db/hooks/hooks-repository.js';
import type { HookDeps } from './deps.js';
import { detailSchema } from '../http/answer-schemas.js';
import { ApiError, orNotFound, permissionDenied, refusing, throttled } from '../http/errors.js';
import { toAnswer } from '../http/middleware/errors.js';
import type { InTurn } from '../http/heavy-work.js';
import { routesOf, type Route, type RouteResult } from '../http/route.js';
import { acceptRun } from '../runs/accept-run.js';
import { repeatHeaders } from '../runs/idempotency.js';
import { keepIfAccepted, toUploadedInput } from '../runs/uploaded-input.js';
import { withDrawing } from '../workflows/with-drawing.js';
import { readDelivered, type DeliveredBody } from './delivered-body.js';
import { eventHeaders, toKeyedDelivery } from './event-id.js';
import { refusedInputSchema, toRefusedInput } from '../runs/refused-input.js';
import { verifySignature, type Delivery, type Verdict } from './verify-signature.js';

const defineRoute = routesOf<HookDeps>();

/**
 * The limit per minute for each hook. Deliveries whose signature is refused are counted apart, so that they do not use
 * up the limit of other deliveries.
 */
const MOST_A_MINUTE = 60;
/** Limits the bodies for hooks with a secret: a body is in memory before its signature can be verified. */
const MAX_SIGNED_BYTES = 1024 * 1024;
/** 32 random bytes in base64url. Any other text is answered as unknown, without a query. */
const TOKEN = /^[\w-]{43}$/;

const deliver = defineRoute({
  method: 'POST',
  path: '/api/v1/hooks/:token/',
  summary:
    'Starts a run of the workflow whose hook has this address; the body is the input, as with an API key, or brings files along.',
  description:
    'The address is all that is needed where the hook asks for no signatures (`verify`). A form is an object of its fields, ' +
    'with JSON in the field `payload`. The same `webhook-id` (or `svix-id`), ' +
    "`X-GitHub-Delivery` or `Idempotency-Key` within 24 hours gives the first run's id; where the sender signs an id " +
    "(Standard Webhooks: `webhook-id`; Stripe: the event's `id`), that one alone counts. 403: the author of the hook " +
    'may not run the workflow any more. 422: the trigger refuses the input, and nothing is kept. 429: more than 60 ' +
    'deliveries in a minute.',
  auth: 'open',
  // Accepted deliveries are not recorded, because the history of runs lists the runs that they start.
  audit: { action: 'hook.refused', target: 'hook', via: 'hook', records: 'refusals' },
  params: z.object({ token: z.string() }),
  headers: eventHeaders,
  bodyFormat: 'bytes',
  body: z.unknown(),
  responses: {
    202: z.object({ id: z.uuid().describe('The run') }),
    401: detailSchema,
    403: detailSchema,
    422: refusedInputSchema,
    429: detailSchema,
    503: detailSchema,
  },
  answerHeaders: ['Idempotent-Replayed'],
  async admit({ deps, params }) {
    const hook = orNotFound(TOKEN.test(params.token) ? await findAddressedHook(deps.db, params.token) : undefined);
    const bounds = hook.secretEnc === null ? {} : { maxBodyBytes: MAX_SIGNED_BYTES };
    return { found: hook, tenant: `project:${hook.projectId}`, ...bounds };
  },
  async handler({ deps, log, tenant, admitted: hook, bodyBytes: body, requestHeaders: headers, memory, signal }) {
    try {
      const delivery = { headers, body, nowMs: Date.now(), tenant, memory, signal };
      const result = await acceptDelivery(deps, log, hook, delivery);
      await note(deps, log, hook, result.status);
      return result;
    } catch (error) {
      const { status } = toAnswer(error, deps.databaseHealth, signal.aborted);
      const noting = status === 429 || signal.aborted ? undefined : note(deps, log, hook, status);
      // A database that is away or busy must not hold up the answer that says so.
      if (status !== 503) await noting;
      throw error;
    }
  },
});

export const deliveryRoutes: Route<HookDeps>[] = [deliver];

async function acceptDelivery(
  deps: HookDeps,
  log: Logger,
  hook: AddressedHook,
  delivery: Delivery & Omit<DeliveredBody, 'inTurn'> & { tenant: string },
): Promise<RouteResult> {
  const secret = hook.secretEnc && deps.secretBox.open(hook.secretEnc, 'hook-secret', hook.id);
  const verdict = verifySignature({ ...hook, secret }, delivery);
  const refused = { type: 'hook', id: hook.id } as const;
  const throttling = await countOrThrottle(deps, hook, verdict === 'right' ? 'deliveries' : 'refusals');
  if (verdict !== 'right') throw refusing(refused, throttling ?? refusedSignature(verdict));
  if (throttling !== undefined) throw throttling;
  if (!mayRun(hook.authorRole)) {
    throw refusing(refused, permissionDenied('The author of this hook may not run the workflow.'));
  }
  const { body, tenant, memory, signal } = delivery;
  const { workflowId, projectId } = hook;
  const asker = { tenant, projectId, memory, signal };
  const inTurn: InTurn = (sizeBytes, work) => deps.heavyWork.run(asker, sizeBytes, work);
  const { workflow, drawingBytes } = await withDrawing(deps, asker, { workflowId, form: 'parsed' }, async (bytes) => ({
    workflow: orNotFound(await deps.drawings.find(workflowId)),
    drawingBytes: bytes,
  }));
  const owner = { projectId, userId: hook.authorId };
  // Outside of `inTurn`, because the store of files may be slow and would delay the large work of others.
  const received = await readDelivered(deps.files, workflow.document, { ...delivery, inTurn }, owner);
  const { envelope, isRepeat } = await keepIfAccepted(deps, received, () => {
    const { input = {}, uploaded } = toUploadedInput(workflow.document, received);
    const keyed = toKeyedDelivery(hook, delivery.headers, input);
    const request = { workflow, userId: hook.authorId, input, uploaded, keyed, leavesNoDraft: true };
    return inTurn(drawingBytes + body.length, () => acceptRun(deps, log, request));
  });
  if (envelope.status !== 201) return { status: 422, body: toRefusedInput(envelope, workflow.document) };
  return { status: 202, body: { id: envelope.data.id }, headers: repeatHeaders(isRepeat) };
}

/** Returns the 429 if there were too many deliveries. */
async function countOrThrottle(
  { db }: HookDeps,
  { id }: AddressedHook,
  kind: DeliveryKind,
): Promise<ApiError | undefined> {
  const { count, secondsLeft } = await countDelivery(db, id, kind);
  return count > MOST_A_MINUTE ? throttled(secondsLeft) : undefined;
}

function refusedSignature(verdict: Exclude<Verdict, 'right'>): ApiError {
  const headers = { 'WWW-Authenticate': 'Signature realm="hook"' };
  return verdict === 'stale'
    ? new ApiError(401, 'stale_signature', 'The signature is more than 5 minutes old or ahead.', { headers })
    : new ApiError(401, 'invalid_signature', 'The signature is missing or wrong.', { headers });
}

/** Never throws: after a 202, a sender that received an error would send the event again. */
async function note({ db }: HookDeps, log: Logger, { id }: AddressedHook, status: number): Promise<void> {
  await noteDelivery(db, id, status).catch((error: unknown) => {
    log.warn({ err: error, hook_id: id }, 'the last delivery of a hook was not noted');
  });
}
