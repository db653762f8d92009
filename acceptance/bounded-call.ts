import type { Client } from '@temporalio/client';

const DEADLINE_MS = 2_000;

/** The deadline stops one call; the signal also stops the client's own retries, which outlast the deadline. */
export async function bounded<T>(client: Client, call: () => Promise<T>, timeoutMs = DEADLINE_MS): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    return await client.withAbortSignal(controller.signal, () => client.withDeadline(Date.now() + timeoutMs, call));
  } finally {
    clearTimeout(timer);
  }
}
