// Makes one attempt to deliver a webhook event and records the outcome.
import { inSpan, isTracing } from '../../telemetry/spans.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import {
  recordDelivered,
  recordDropped,
  recordFailed,
  recordGone,
  recordRetry,
  type AttemptResult,
  type ClaimedDelivery,
} from '../../db/webhooks/webhook-deliveries-repository.js';
import { OutgoingError, toUrl, type OutgoingClient } from '../../outgoing/outgoing-client.js';
import { retryAfterMs } from '../../outgoing/retry-after.js';
import type { WebhookDeps } from './deps.js';
import { findRunContext } from '../runs/run-traces.js';
import { signWebhook } from './sign-webhook.js';
import { nextDelaySeconds } from './webhook-retry.js';

export const ATTEMPT_TIMEOUT_MS = 15_000;
const GONE = 410;

type Outcome = 'delivered' | 'retried' | 'failed' | 'dropped';

type Answer = AttemptResult & { retryAfterMs?: number | undefined };

/**
 * Sends one event, or drops it if the webhook is no longer in use. If the process dies before it records the answer,
 * the lease expires and the event is sent again with the same `webhook-id` (at least once). An aborted attempt without
 * an answer records nothing either, so its event is sent again in the same way. Throws if the database is unavailable.
 */
export async function attemptDelivery(
  deps: WebhookDeps,
  client: OutgoingClient,
  delivery: ClaimedDelivery,
  aborted: AbortSignal,
): Promise<void> {
  if (!delivery.is_active) {
    await recordDropped(deps.db, delivery);
    return report(deps, delivery, { status: null, errorCode: 'webhook_disabled' }, 'dropped');
  }
  const headers = sign(deps, delivery);
  const startedAt = performance.now();
  const answer =
    headers === undefined
      ? unreadableSecret
      : await traced(deps, delivery, () => send(client, delivery, headers, aborted));
  if (aborted.aborted && answer.status === null) return;
  deps.metrics.webhookAttemptSeconds.observe((performance.now() - startedAt) / 1000);
  report(deps, delivery, answer, await record(deps, delivery, answer));
}

const unreadableSecret: Answer = { status: null, errorCode: 'secret_unreadable' };

/** Returns undefined if no key of SECRETS_KEY opens any of the secrets of the webhook; a new secret fixes that. */
function sign({ secretBox }: WebhookDeps, delivery: ClaimedDelivery): Record<string, string> | undefined {
  const sealedOnes = [delivery.webhook_secret_enc, delivery.webhook_previous_secret_enc];
  const secrets = sealedOnes.flatMap((sealed) => openSecret(secretBox, delivery.project_id, sealed));
  return secrets.length === 0 ? undefined : signWebhook(secrets, delivery.id, new Date(), delivery.payload);
}

function openSecret(secretBox: SecretBox, projectId: number, sealed: Buffer | null): string[] {
  if (sealed === null) return [];
  try {
    return [secretBox.open(sealed, 'webhook-secret', projectId)];
  } catch {
    return [];
  }
}

/** Runs the attempt in the trace of the run that the event is about. */
async function traced(
  deps: WebhookDeps,
  { id, run_id: runId, type }: ClaimedDelivery,
  act: () => Promise<Answer>,
): Promise<Answer> {
  if (!isTracing()) return act();
  const parent = runId === null ? undefined : await findRunContext(deps, runId);
  const attributes = { ...(runId !== null && { 'run.id': runId }), 'webhook.delivery.id': id, 'webhook.type': type };
  return inSpan('webhook', { ...(parent && { parent }), attributes }, act);
}

async function send(
  client: OutgoingClient,
  { webhook_url: url, payload }: ClaimedDelivery,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const answer = await client.send({
      url: toUrl(url),
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'workflow-automation-service', ...headers },
      body: payload,
      timeoutMs: ATTEMPT_TIMEOUT_MS,
      signal,
      followRedirects: false,
      readBody: false,
    });
    const errorCode = answer.status >= 200 && answer.status < 300 ? null : 'http_status';
    return { status: answer.status, errorCode, retryAfterMs: retryAfterMs(answer.headers['retry-after'], Date.now()) };
  } catch (error) {
    return { status: null, errorCode: codeOf(error) };
  }
}

/** Returns our own error codes, because messages of the network may contain the address. */
function codeOf(error: unknown): string {
  if (error instanceof OutgoingError) return error.code;
  const isBlocked = error instanceof Error && 'code' in error && error.code === 'blocked_address';
  return isBlocked ? 'blocked_address' : 'network_error';
}

async function record(deps: WebhookDeps, delivery: ClaimedDelivery, answer: Answer): Promise<Outcome> {
  if (answer.errorCode === null) {
    await recordDelivered(deps.db, delivery, answer);
    return 'delivered';
  }
  if (answer.status === GONE && (await recordGone(deps.db, delivery, answer))) {
    deps.logger.info({ project_id: delivery.project_id }, 'webhook switched off: its receiver answered 410');
    return 'failed';
  }
  const { attempts, is_sent_again: isSentAgain } = delivery;
  const failed = { attempts, retryAfterMs: answer.retryAfterMs };
  const delaySeconds = isSentAgain ? undefined : nextDelaySeconds(deps.config.webhookRetrySeconds, failed);
  if (delaySeconds === undefined) {
    await recordFailed(deps.db, delivery, answer);
    return 'failed';
  }
  await recordRetry(deps.db, delivery, answer, delaySeconds);
  return 'retried';
}

/** The log never contains the URL: its path and query often are credentials. */
function report(
  { logger, metrics }: WebhookDeps,
  delivery: ClaimedDelivery,
  answer: AttemptResult,
  outcome: Outcome,
): void {
  metrics.webhookAttempts.inc({ outcome });
  const facts = {
    delivery_id: delivery.id,
    project_id: delivery.project_id,
    run_id: delivery.run_id,
    type: delivery.type,
    attempt: delivery.attempts,
    response_status: answer.status,
    error_code: answer.errorCode,
  };
  if (outcome === 'failed') logger.info(facts, 'webhook event given up');
  else logger.debug(facts, `webhook event ${outcome}`);
}
