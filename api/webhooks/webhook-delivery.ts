// Sends webhook events from the outbox, in every API process. A lease in the database prevents two processes from
// making the same attempt.
import { setMaxListeners } from 'node:events';
import { claimDeliveries, type ClaimedDelivery } from '../../db/webhooks/webhook-deliveries-repository.js';
import { createOutgoingClient, type OutgoingClient } from '../../outgoing/outgoing-client.js';
import { attemptDelivery, ATTEMPT_TIMEOUT_MS } from './attempt-delivery.js';
import type { WebhookDeps } from './deps.js';
import { pause } from '../loops/background-loop.js';

const INTERVAL_MS = 500;
/** The longest interval while the database is unavailable; the interval doubles up to it. */
const MAX_INTERVAL_MS = 10_000;
/** The limit of concurrent attempts per project in this process, so that a slow receiver never occupies all slots. */
const PER_PROJECT = 8;
const TOTAL = 200;
/** Includes time to record an answer that arrives at the very end of the attempt. */
const LEASE_SECONDS = ATTEMPT_TIMEOUT_MS / 1000 + 5;
/**
 * Attempts that are still running after this time are aborted, within the 15 s that the process has to end; they are
 * repeated when their lease expires.
 */
const DRAIN_MS = 8_000;

interface WebhookDelivery {
  /** Resolves when no attempt is running. */
  stop(): Promise<void>;
}

export function startWebhookDelivery(deps: WebhookDeps): WebhookDelivery {
  return new Sender(deps);
}

class Sender implements WebhookDelivery {
  readonly #deps: WebhookDeps;
  readonly #client: OutgoingClient;
  readonly #attempts = new Set<Promise<void>>();
  readonly #inFlight = new Map<number, number>();
  readonly #stopped = new AbortController();
  readonly #cut = new AbortController();
  readonly #loop: Promise<void>;
  /** Aborted to end the pause of the loop. */
  #wake = new AbortController();

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
    // Every attempt listens to this signal, and Node.js warns from the eleventh listener on.
    setMaxListeners(0, this.#cut.signal);
    this.#client = createOutgoingClient(deps.config.addressRules);
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake.abort();
    await this.#loop;
    const cut = setTimeout(() => this.#cut.abort(), DRAIN_MS);
    await Promise.all(this.#attempts);
    clearTimeout(cut);
    this.#cut.abort();
    await this.#client.close();
  }

  async #run(): Promise<void> {
    let intervalMs = INTERVAL_MS;
    while (!this.#stopped.signal.aborted) {
      // Renewed before the claim, because an attempt that ends during the claim may make another event due.
      this.#wake = new AbortController();
      let claimed = 0;
      try {
        claimed = await this.#claim();
        intervalMs = INTERVAL_MS;
      } catch (error) {
        // Events wait and nothing is lost, so each failure is only a debug line.
        this.#deps.logger.debug({ err: error }, 'webhook delivery cannot reach the database');
        intervalMs = Math.min(MAX_INTERVAL_MS, intervalMs * 2);
      }
      if (claimed === 0) await pause(intervalMs, this.#wake.signal);
    }
  }

  async #claim(): Promise<number> {
    const total = TOTAL - this.#attempts.size;
    if (total <= 0) return 0;
    const claimed = await claimDeliveries(this.#deps.db, {
      inFlight: this.#inFlight,
      perProject: PER_PROJECT,
      total,
      leaseSeconds: LEASE_SECONDS,
    });
    for (const delivery of claimed) this.#start(delivery);
    return claimed.length;
  }

  #start(delivery: ClaimedDelivery): void {
    const { project_id: project } = delivery;
    this.#inFlight.set(project, (this.#inFlight.get(project) ?? 0) + 1);
    const attempt = this.#attempt(delivery).finally(() => {
      this.#attempts.delete(attempt);
      const left = (this.#inFlight.get(project) ?? 1) - 1;
      if (left === 0) this.#inFlight.delete(project);
      else this.#inFlight.set(project, left);
      this.#wake.abort();
    });
    this.#attempts.add(attempt);
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    try {
      await attemptDelivery(this.#deps, this.#client, delivery, this.#cut.signal);
    } catch (error) {
      // The answer could not be recorded, so the attempt is repeated when its lease expires.
      this.#deps.logger.warn({ err: error, delivery_id: delivery.id }, 'webhook attempt not recorded');
    }
  }
}
