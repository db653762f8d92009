// Setup for the tests of resume: runs that fail once, and runs that resume them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer, ApiClient, Envelope, NodeEntry, SendOptions } from '../../../../harness/client/api-client.js';
import { drawing, http, linkInRow, trigger, type DrawingNode } from '../../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../../harness/target/http-target.js';
import { sharedStack } from '../../../support/shared-stack.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import { createAccount, type Account } from '../../accounts.js';

export interface EndedRun {
  workflowId: number;
  runId: string;
  status: string;
  nodes: Record<string, NodeEntry & { reused?: true }>;
  output?: unknown;
}

export interface ResumeWorld {
  stack: TestStack;
  account: Account;
  api: ApiClient;
  project: number;
  target: HttpTarget;
  callsTo: (path: string) => number;
  /** Returns the address of the path, which answers the first request with 418 and all others with 200. */
  failsOnce: (path: string) => string;
  /** An HTTP node whose first call fails. */
  failsFirst: (data?: Record<string, unknown>) => DrawingNode;
  workflowOf: (data: object) => Promise<number>;
  /** Runs a trigger followed by these nodes in a row. */
  runRow: (nodes: DrawingNode[], input?: unknown) => Promise<EndedRun>;
  runToEnd: (data: object, input?: unknown) => Promise<EndedRun>;
  resume: <T = Envelope>(run: Pick<EndedRun, 'runId' | 'workflowId'>, options?: SendOptions) => Promise<ApiAnswer<T>>;
  /** Resumes the run, and waits for the end of the new one. */
  resumeToEnd: (run: EndedRun, body?: object) => Promise<EndedRun>;
  /** Tries to resume the run, and returns the `code` of the 400. */
  refusalOf: (run: Pick<EndedRun, 'runId' | 'workflowId'>, body?: object) => Promise<string | undefined>;
  close: () => Promise<void>;
}

/** Creates an account with a project on the shared stack, and an HTTP target. */
export async function openResumeWorld(): Promise<ResumeWorld> {
  const stack = await sharedStack();
  const account = await createAccount(stack);
  const { api } = account;
  const project = await api.createProject();
  const target = await startHttpTarget();
  const ended = async (workflowId: number, runId: string): Promise<EndedRun> => {
    const { status, data, output } = (await api.pollToEnd(runId)).data;
    return { workflowId, runId, status, nodes: data ?? {}, ...(output !== undefined && { output }) };
  };
  const world: ResumeWorld = {
    stack,
    account,
    api,
    project,
    target,
    callsTo: (path) => target.requestsTo(path).length,
    failsOnce(path) {
      target.on(path, [{ status: 418 }, { body: 'ok' }]);
      return `${target.url}${path}`;
    },
    failsFirst: (data = {}) => http(world.failsOnce(`/${randomUUID()}`), data),
    workflowOf: (data) => api.createWorkflow(project, data),
    runRow: (nodes, input) => world.runToEnd(drawing(linkInRow([trigger(), ...nodes])), input),
    async runToEnd(data, input) {
      const workflowId = await world.workflowOf(data);
      const { status, data: started } = await api.run(workflowId, input);
      assert.equal(status, 201, JSON.stringify(started));
      return ended(workflowId, started.id);
    },
    resume: ({ workflowId, runId }, options = { body: {} }) =>
      api.post(`/workflows/${workflowId}/history/${runId}/resume/`, options),
    async resumeToEnd(run, body = {}) {
      const answer = await world.resume(run, { body });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      assert.equal(answer.body.status, 201);
      return ended(run.workflowId, answer.body.data.id);
    },
    async refusalOf(run, body = {}) {
      const answer = await world.resume<{ code?: string }>(run, { body });
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      return answer.body.code;
    },
    close: () => target.close(),
  };
  return world;
}

/** The ids of the nodes whose results are reused from the earlier run. */
export function reusedOf({ nodes }: EndedRun): Set<string> {
  return new Set(Object.values(nodes).flatMap(({ id, reused }) => (reused === true ? [id] : [])));
}
