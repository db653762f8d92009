// Hooks of workflows, and requests as senders make them.
import { Webhook } from 'standardwebhooks';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { queryDatabase } from '../../support/inspect.js';
import type { TestStack } from '../../../harness/stack/stack.js';

export interface StartHook {
  id: number;
  url?: string;
  verify: string;
  header: string | null;
  secret?: string;
  author: { id: number; name: string };
  inactive_reason: string | null;
  last_delivery: { at: string; status: number } | null;
  created_at: string;
}

export interface DeliveryAnswer {
  status: number;
  headers: Headers;
  body: { id: string; detail?: string; code?: string; errors?: Record<string, string[]> };
  text: string;
}

export async function makeStartHook(
  api: ApiClient,
  workflowId: number,
  body: object = { verify: 'none' },
): Promise<StartHook & { url: string }> {
  const answer = await api.post<StartHook>(`/workflows/${workflowId}/hooks/`, { body });
  if (answer.status !== 201 || answer.body.url === undefined) {
    throw new Error(`no hook (${answer.status}): ${JSON.stringify(answer.body)}`);
  }
  return { ...answer.body, url: answer.body.url };
}

export async function deliverTo(
  url: string,
  body: string | Uint8Array<ArrayBuffer> = '{}',
  headers: Record<string, string> = {},
): Promise<DeliveryAnswer> {
  const response = await fetch(url, { method: 'POST', body, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text) as DeliveryAnswer['body'], text };
}

/** The address of the same hook at another API process. */
export function atProcess(url: string, apiUrl: string): string {
  const { pathname } = new URL(url);
  return `${apiUrl}${pathname}`;
}

/** Returns the headers of Standard Webhooks for the body. `lateSeconds` is the age of the signature. */
export function standardHeaders(secret: string, id: string, body: string, lateSeconds = 0): Record<string, string> {
  const time = new Date(Date.now() - lateSeconds * 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, time, body),
  };
}

/** The headers of Standard Webhooks with the names that Svix uses, which sends the webhooks of Clerk and Resend. */
export function toSvix(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.replace(/^webhook-/, 'svix-'), value]),
  );
}

export async function gitHubHeaders(secret: string, id: string, body: string): Promise<Record<string, string>> {
  // A static import of this package would make mocha load the test file, and the modules that it shares with other test
  // files, a second time.
  const { sign } = await import('@octokit/webhooks-methods');
  return { 'x-github-delivery': id, 'x-hub-signature-256': await sign(secret, body), 'x-github-event': 'push' };
}

/** Ends the current minute of the hook's limit. */
export async function endMinute(stack: TestStack, hookId: number): Promise<void> {
  await queryDatabase(stack, 'UPDATE hook_windows SET ends_at = now() WHERE hook_id = $1', [hookId]);
}
