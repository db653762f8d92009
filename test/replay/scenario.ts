// What a recording needs: a real stack, and servers that its nodes call.
import { approvalsOf, decide } from '../support/agents.js';
import type { Client } from '@temporalio/client';
import { STATUS_QUERY, type RunStatusAnswer } from '../../contract/run-workflow.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { agent, drawing, type DrawingNode } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { withTemporal } from '../support/inspect.js';
import type { ModelAnswer } from '../../harness/target/fake-model-provider.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';

/** Draws a graph, runs it and waits for its end. Returns the run's id. The recording has the scenario's name. */
export type Scenario = (world: World) => Promise<string>;

export class World {
  readonly stack: TestStack;
  readonly api: ApiClient;
  readonly target: HttpTarget;
  readonly tools: ToolServer;
  #models = 0;

  private constructor(stack: TestStack, target: HttpTarget, tools: ToolServer) {
    this.stack = stack;
    this.api = createApiClient(stack.apiUrl, stack.apiKey);
    this.target = target;
    this.tools = tools;
  }

  static async open(stack: TestStack): Promise<World> {
    return new World(stack, await startHttpTarget(), await startToolServer());
  }

  async close(): Promise<void> {
    await this.target.close();
    await this.tools.close();
  }

  /** Starts a run of these nodes; the first one is the start. */
  async start(nodes: DrawingNode[]): Promise<{ runId: string; workflowId: number }> {
    const workflowId = await this.api.createWorkflow(await this.api.createProject(), drawing(nodes));
    return { workflowId, runId: (await this.api.run(workflowId)).data.id };
  }

  async runToEnd(nodes: DrawingNode[]): Promise<string> {
    return this.ended((await this.start(nodes)).runId);
  }

  /** Waits for the end of the run. */
  async ended(runId: string): Promise<string> {
    await this.api.pollToEnd(runId, { timeoutMs: 60_000 });
    return runId;
  }

  /** An agent whose model gives these answers; `approval` is the approval policy of its tools. */
  agent(answers: ModelAnswer[], approval: unknown, settings: Record<string, unknown> = {}): DrawingNode {
    const model = `recorded-${++this.#models}`;
    this.stack.modelProvider.script(model, answers);
    const server = { endpoint_url: this.tools.url, require_approval: approval };
    return agent('work', { model_name: model, ...settings }, [server]);
  }

  async requests(runId: string, nodeId: string, count = 1): Promise<string[]> {
    return (await approvalsOf(this.api, runId, nodeId, count)).map(({ request_id: id }) => id);
  }

  async decide(runId: string, requestId: string, word: 'approve' | 'reject'): Promise<void> {
    await decide(this.api, runId, requestId, word);
  }

  async cancel({ runId, workflowId }: { runId: string; workflowId: number }): Promise<void> {
    const { status } = await this.api.post(`/workflows/${workflowId}/history/${runId}/cancel/`);
    if (status !== 200) throw new Error(`not cancelled: ${status}`);
  }

  inPhase(runId: string, phase: RunStatusAnswer['phase']): Promise<unknown> {
    return this.temporal((client) =>
      eventually(
        async () => (await client.workflow.getHandle(runId).query<RunStatusAnswer>(STATUS_QUERY)).phase === phase,
        { timeoutMs: 20_000 },
      ),
    );
  }

  temporal<T>(use: (client: Client) => Promise<T>): Promise<T> {
    return withTemporal(this.stack, use);
  }
}

/** A model answer that calls a tool. */
export const callsTool = (name: string, given: object): ModelAnswer => ({ toolCalls: [{ name, arguments: given }] });
export const ADDS = callsTool('add', { a: 1, b: 2 });
export const NOTES = callsTool('note', { text: 'noted' });
export const DONE: ModelAnswer = { text: 'done' };
