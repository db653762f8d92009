import type { Client } from '@temporalio/client';

const DEADLINE_MS = 2_000;

/**
 * Limits a call to Temporal, including the client's own retries. The deadline applies to a single try only, so a signal
 * aborts the retries.
 */
export async function bounded<T>(client: Client, call: () => Promise<T>, timeoutMs = DEADLINE_MS): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    return await client.withAbortSignal(controller.signal, () => client.withDeadline(Date.now() + timeoutMs, call));
  } finally {
    clearTimeout(timer);
  }
}
