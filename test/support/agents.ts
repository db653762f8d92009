// Agents whose models are scripted, and the approvals that their tool calls wait for.
import { randomUUID } from 'node:crypto';
import type { ApiAnswer, ApiClient, ApprovalRequest } from '../../harness/client/api-client.js';
import { agent, drawing, link, trigger, type Drawing, type DrawingNode } from '../../harness/drawing/drawing.js';
import type { TestStack } from '../../harness/stack/stack.js';
import type { ModelAnswer, ModelRequest } from '../../harness/target/fake-model-provider.js';
import { eventually } from '../../harness/timing/eventually.js';

export type Answers = ModelAnswer[] | ((request: ModelRequest) => ModelAnswer);

export interface AgentSettings {
  /** The fields of its MCP server. */
  server: { endpoint_url: string; [field: string]: unknown };
  settings?: Record<string, unknown>;
  message?: string;
}

export interface DrawnAgent {
  data: Drawing;
  node: DrawingNode;
}

/** Scripts a new model, which no other test calls. Returns its name. */
export function scriptModel({ modelProvider }: TestStack, answers: Answers): string {
  const model = `scripted-${randomUUID()}`;
  modelProvider.script(model, answers);
  return model;
}

/**
 * An agent with one MCP server, whose tools need no approval by default. Runs have the inputs `topic` and `token`,
 * which is secret.
 */
export function drawAgent(model: string, { server, settings = {}, message = 'Work' }: AgentSettings): DrawnAgent {
  const start = trigger([{ id: 'token', is_secret: true }]);
  const node = agent(message, { model_name: model, ...settings }, [{ require_approval: 'never', ...server }]);
  link(start, node);
  return { data: drawing([start, node]), node };
}

/** Waits until the node has `count` requests for approval, and returns them. */
export function approvalsOf(api: ApiClient, runId: string, nodeId: string, count = 1): Promise<ApprovalRequest[]> {
  return eventually(async () => {
    const requests = (await api.poll(runId)).data.data?.[nodeId]?.approval_requests;
    return requests?.length === count && requests;
  });
}

export interface Decided {
  status: number;
  data: Record<string, unknown>;
}

export function decide(
  api: ApiClient,
  runId: string,
  requestId: string,
  word: 'approve' | 'reject',
  body?: object,
): Promise<ApiAnswer<Decided>> {
  const path = `/workflows/workflow_run/${runId}/agent-approval/${requestId}/${word}/`;
  return api.post<Decided>(path, body === undefined ? {} : { body });
}

/** Waits for the one request of the node, and approves it. */
export async function approve(api: ApiClient, runId: string, nodeId: string): Promise<void> {
  const [request] = await approvalsOf(api, runId, nodeId);
  const { body } = await decide(api, runId, request!.request_id, 'approve');
  if (body.status !== 200) throw new Error(`not approved: ${JSON.stringify(body)}`);
}
