// An attacker with an account, and the building blocks of attacks.
import { setTimeout as pause } from 'node:timers/promises';
import {
  createApiClient,
  credentialHeaders,
  type ApiClient,
  type Envelope,
} from '../../../harness/client/api-client.js';
import type { AccountAt, Outcomes } from './attack.js';

export interface Tenant extends AccountAt {
  api: ApiClient;
  session: ApiClient;
  /** The address of the hostile servers in this process (harness/target/bad-answers.ts). */
  outside: string;
  count: (outcome: string | number) => void;
}

export interface Request {
  method?: string;
  /** The path below the service's address, with a leading slash. */
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** The credential of the request; the key by default. */
  as?: 'key' | 'bearer' | 'session' | 'stranger';
}

export function createTenant(account: AccountAt, outside: string, outcomes: Outcomes): Tenant {
  return {
    ...account,
    api: createApiClient(account.apiUrl, account.apiKey),
    session: createApiClient(account.apiUrl, { session: account.sessionToken }),
    outside,
    count: (outcome) => void (outcomes[outcome] = (outcomes[outcome] ?? 0) + 1),
  };
}

export function credentials({ apiKey, sessionToken }: AccountAt, as: Request['as'] = 'key'): Record<string, string> {
  const known = { key: apiKey, bearer: { session: apiKey }, session: { session: sessionToken }, stranger: undefined };
  return credentialHeaders(known[as]);
}

/** Sends one request and discards the body of its answer. Returns the status. */
export async function send(tenant: Tenant, { method, path, headers, body, as }: Request): Promise<number> {
  tenant.count('sent');
  const response = await fetch(`${tenant.apiUrl}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...credentials(tenant, as),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  await response.body?.pipeTo(new WritableStream());
  tenant.count(response.status);
  return response.status;
}

/** Repeats the move until this process is killed, `sides` times in parallel. Errors are counted, and do not end it. */
export async function repeat(tenant: Tenant, sides: number, move: (round: number) => Promise<unknown>): Promise<void> {
  let rounds = 0;
  const side = async (): Promise<void> => {
    for (;;) {
      try {
        await move(rounds++);
      } catch (error) {
        tenant.count(codeOf(error));
        await pause(50);
      }
    }
  };
  await Promise.all(Array.from({ length: sides }, side));
}

/** Repeats the request until this process is killed, `sides` times in parallel. */
export function flood(tenant: Tenant, sides: number, request: Request | ((round: number) => Request)): Promise<void> {
  return repeat(tenant, sides, (round) => send(tenant, typeof request === 'function' ? request(round) : request));
}

/**
 * Keeps `sides` runs of the drawing open: starts the next one when the last has ended or has lasted for ten seconds.
 */
export async function keepRunning(tenant: Tenant, sides: number, data: object, input: unknown = {}): Promise<void> {
  const { api, projectId } = tenant;
  const workflow = await api.createWorkflow(projectId, data);
  await repeat(tenant, sides, async () => {
    const started = await api.run(workflow, input);
    tenant.count(`run ${started.status}`);
    if (started.status !== 201) throw new Error(`a run was refused: ${JSON.stringify(started.data.data)}`);
    const poll = await api.get<Envelope>(`/workflows/workflow_result/?id=${started.data.id}`, {
      headers: { prefer: 'wait=10' },
    });
    tenant.count(poll.body.data.status);
  });
}

function codeOf(error: unknown): string {
  const { code, cause, message } = error as { code?: string; cause?: { code?: string }; message?: string };
  return cause?.code ?? (typeof code === 'string' ? code : undefined) ?? String(message).slice(0, 80);
}
