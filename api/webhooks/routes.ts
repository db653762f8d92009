// Renews the signing secret of a project's webhook, lists the deliveries of the webhook, and sends one again.
import { z } from 'zod';
import { sendDeliveryAgain } from '../../db/webhooks/send-delivery-again.js';
import { listDeliveries, type DeliveryListing } from '../../db/webhooks/webhook-deliveries-repository.js';
import { replaceWebhookSecret } from '../../db/webhooks/webhook-secrets-repository.js';
import { badRequestSchema } from '../http/answer-schemas.js';
import { ApiError, notFound, orNotFound } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { pathId, uuid } from '../http/path-ids.js';
import type { WebhookDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { createWebhookSecret } from '../projects/webhook-settings.js';

const defineRoute = routesOf<WebhookDeps>();

const deliverySchema = z.object({
  id: z.uuid().describe('The `webhook-id` of every attempt.'),
  type: z.string(),
  run_id: z.uuid().nullable().describe('Null for an event of the project'),
  status: z.enum(['pending', 'delivered', 'failed', 'dropped']),
  attempts: z.int(),
  response_status: z.int().nullable().describe('Status of the answer to the last attempt; null if there was none'),
  error: z.string().nullable().describe('Code of the error of the last attempt; null if it did not fail'),
  created_at: z.iso.datetime(),
  next_attempt_at: z.iso.datetime().nullable(),
  delivered_at: z.iso.datetime().nullable(),
});

function toDelivery(row: DeliveryListing): z.infer<typeof deliverySchema> {
  const { id, type, run_id, status, attempts, response_status, error_code } = row;
  return {
    id,
    type,
    run_id,
    status,
    attempts,
    response_status,
    error: error_code,
    created_at: row.created_at.toISOString(),
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    delivered_at: row.delivered_at?.toISOString() ?? null,
  };
}

const renewSecret = defineRoute({
  method: 'POST',
  path: '/api/v1/projects/:id/webhook-secret/',
  summary:
    'Makes a new signing secret and shows it once. For 24 hours, deliveries are also signed with the previous secret.',
  audit: { action: 'webhook_secret.renewed', target: 'project', id: 'id' },
  access: { to: 'project', role: 'admin' },
  responses: { 201: z.object({ webhook_secret: z.string() }) },
  async handler({ deps, params }) {
    const secret = createWebhookSecret();
    const sealed = deps.secretBox.seal(secret, 'webhook-secret', params.id);
    if (!(await replaceWebhookSecret(deps.db, params.id, sealed))) throw notFound();
    return { status: 201, body: { webhook_secret: secret } };
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/projects/:id/webhook-deliveries/',
  summary: 'Lists the events of the webhook with the state of their delivery, newest first.',
  access: { to: 'project', role: 'viewer' },
  query: z.object(pageQuery(1)),
  responses: { 200: envelopeOf(deliverySchema) },
  async handler({ deps, params, query }) {
    const { total, deliveries } = await listDeliveries(deps.db, { projectId: params.id, ...toWindow(query) });
    return answerPage(query, total, deliveries.map(toDelivery));
  },
});

const sendAgain = defineRoute({
  method: 'POST',
  path: '/api/v1/projects/:id/webhook-deliveries/:delivery_id/send-again/',
  summary: 'Sends an event again that was delivered, has failed or was dropped, with the same `webhook-id`.',
  description:
    'One attempt is made, without retries. Nothing is sent if the event is still pending, or was sent again in the last ' +
    'ten seconds. 400 while the webhook is switched off or has no address.',
  audit: { action: 'webhook_delivery.sent_again', target: 'webhook_delivery', id: 'delivery_id' },
  access: { to: 'project', role: 'admin' },
  params: z.object({ id: pathId, delivery_id: uuid }),
  responses: { 202: deliverySchema, 400: badRequestSchema },
  async handler({ deps, params }) {
    const outcome = orNotFound(await sendDeliveryAgain(deps.db, params.id, params.delivery_id));
    if (outcome === 'webhook_disabled') {
      throw new ApiError(400, 'webhook_disabled', 'The webhook of the project is switched off or has no address.');
    }
    return { status: 202, body: toDelivery(outcome) };
  },
});

export const webhookRoutes: Route<WebhookDeps>[] = [renewSecret, list, sendAgain];
