import { z } from 'zod';

/** A wait lasts 30 days at most. */
export const MAX_WAIT_SECONDS = 30 * 24 * 3600;
export const DEFAULT_TIMEOUT_SECONDS = 3 * 24 * 3600;

/** How long a node waits for somebody, in seconds. */
export function timeoutField(description: string) {
  return z.number().min(0).max(MAX_WAIT_SECONDS).nullish().describe(description);
}
