// Creates projects whose webhook address is a path of an HTTP target, and reads the requests that the target received.
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { ApiClient } from '../../harness/client/api-client.js';
import { chain } from '../../harness/drawing/drawing.js';
import type { HttpTarget, TargetReply, TargetRequest } from '../../harness/target/http-target.js';
import type { Page, Project } from './bodies.js';

export interface Hook {
  projectId: number;
  path: string;
  secret: string;
}

export interface WebhookEvent {
  type: string;
  timestamp: string;
  data: { run_id: string; workflow_id: number; project_id: number; status: string };
}

export interface Delivery {
  id: string;
  type: string;
  run_id: string;
  status: string;
  attempts: number;
  response_status: number | null;
  error: string | null;
  created_at: string;
  next_attempt_at: string | null;
  delivered_at: string | null;
}

/** Creates a project with an enabled webhook. The target answers with `replies`, or with 200 to every request. */
export async function createHook(api: ApiClient, target: HttpTarget, replies?: TargetReply[]): Promise<Hook> {
  const path = `/hooks/${randomUUID()}`;
  target.on(path, replies ?? { status: 200 });
  const fields = { name: 'hooked', webhook_url: target.url + path, is_webhook_enabled: true };
  const { body, status } = await api.post<Project>('/projects/', { body: fields });
  if (status !== 201) throw new Error(`no project: ${JSON.stringify(body)}`);
  return { projectId: body.id, path, secret: await renewSecret(api, body.id) };
}

export async function renewSecret(api: ApiClient, projectId: number): Promise<string> {
  const { body, status } = await api.post<{ webhook_secret: string }>(`/projects/${projectId}/webhook-secret/`);
  if (status !== 201) throw new Error(`no secret: ${JSON.stringify(body)}`);
  return body.webhook_secret;
}

/** Starts a run of `data` (by default a trigger alone) in the project. Returns the id of the run. */
export async function startRun(api: ApiClient, projectId: number, data: object = chain(1)): Promise<string> {
  return (await api.run(await api.createWorkflow(projectId, data))).data.id;
}

/** The project's deliveries, oldest first. */
export async function deliveriesOf(api: ApiClient, projectId: number): Promise<Delivery[]> {
  const { body } = await api.get<Page<Delivery>>(`/projects/${projectId}/webhook-deliveries/?size=100`);
  return body.items.toReversed();
}

/** Returns the event in the body of a request. Throws if it is not signed with `secret`. */
export function verify(request: TargetRequest, secret: string): WebhookEvent {
  return new Webhook(secret).verify(request.body, request.headers as Record<string, string>) as WebhookEvent;
}

/** The types of the received events (of one run or all), in order. An event that was received twice is listed twice. */
export function typesOf(requests: TargetRequest[], runId?: string): string[] {
  const events = requests.map(({ body }) => JSON.parse(body) as WebhookEvent);
  return events.filter(({ data }) => runId === undefined || data.run_id === runId).map(({ type }) => type);
}
