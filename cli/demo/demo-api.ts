// A client of the public API.
import type { SampleFile } from '../samples/samples.js';

export interface NodeState {
  status: 'in progress' | 'succeed' | 'failed';
  result?: { content: string };
  error?: { code: string; message: string };
  iterations?: { total: number; failed: number };
  waiting?: { for: 'time' | 'callback' | 'human' | 'approval' | 'child'; task_id?: string; callback_url?: string };
  approval_requests?: ApprovalRequest[];
}

interface ApprovalRequest {
  request_id: string;
  status: string;
  tool_name: string;
  arguments: object;
}

export interface RunState {
  id: string;
  status: 'in queue' | 'in progress' | 'succeed' | 'failed' | 'not found';
  data: Record<string, NodeState> | null;
  /** The value of the first output node that has ended; absent until then. */
  output?: unknown;
}

export interface FinishedRun {
  cost: Record<string, string>;
  /** Includes the runs that this run has started, and theirs. */
  total_cost: Record<string, string>;
  /** Seconds. */
  duration: number | null;
}

export interface DemoApi {
  createProject: (name: string) => Promise<number>;
  /** Creates a service from an OpenAPI document. */
  createService: (project: number, document: object) => Promise<StoredService>;
  createWorkflow: (project: number, title: string, data: object) => Promise<number>;
  makeChat: (workflow: number) => Promise<void>;
  startRun: (workflow: number, input: object, files?: readonly SampleFile[]) => Promise<RunState>;
  poll: (run: string) => Promise<RunState>;
  finishedRun: (workflow: number, run: string) => Promise<FinishedRun>;
  /** Returns the paths of up to 100 failed iterations of the loop `node`. */
  failedIterations: (workflow: number, run: string, node: string) => Promise<string[]>;
  answerTask: (task: string, answer: { action: string; values: object; comment: string }) => Promise<void>;
  decide: (run: string, request: string, decision: 'approve' | 'reject', reason: string) => Promise<void>;
  /** POSTs to the callback address of a waiting run, which needs no key. */
  callBack: (url: string, body: unknown) => Promise<void>;
}

/** A start with files is multipart. */
function withFiles(input: object, files: readonly SampleFile[]): object {
  if (files.length === 0) return input;
  const form = new FormData();
  form.append('input', JSON.stringify(input));
  for (const { field, name, type, bytes } of files)
    form.append(field, new Blob([new Uint8Array(bytes)], { type }), name);
  return form;
}

interface StoredService {
  id: string;
  name: string;
  action_count: number;
}

interface Envelope {
  status: number;
  data: RunState;
}

export function createDemoApi(apiUrl: string, apiKey: string): DemoApi {
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${apiUrl}/api/v1${path}`, {
      method,
      headers: { 'X-Api-Key': apiKey, ...(!(body instanceof FormData) && { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  };
  return {
    createProject: async (name) => (await call<{ id: number }>('POST', '/projects/', { name })).id,
    createService: (project, openapi) => call('POST', `/projects/${project}/services/`, { openapi }),
    createWorkflow: async (project, title, data) =>
      (await call<{ id: number }>('POST', '/workflows/', { project, title, data })).id,
    async makeChat(workflow) {
      await call('PATCH', `/workflows/${workflow}/`, { is_chat: true });
    },
    async startRun(workflow, input, files = []) {
      const envelope = await call<Envelope>('POST', `/workflows/${workflow}/run/`, withFiles(input, files));
      if (envelope.status !== 201) throw new Error(`the run was not accepted: ${JSON.stringify(envelope)}`);
      return envelope.data;
    },
    poll: async (run) => (await call<Envelope>('GET', `/workflows/workflow_result/?id=${run}`)).data,
    finishedRun: (workflow, run) => call('GET', `/workflows/${workflow}/history/${run}/`),
    async failedIterations(workflow, run, node) {
      const query = new URLSearchParams({ node, status: 'failed', size: '100' });
      const path = `/workflows/${workflow}/history/${run}/iterations/?${query.toString()}`;
      return (await call<{ items: { path: string }[] }>('GET', path)).items.map((iteration) => iteration.path);
    },
    async answerTask(task, answer) {
      await call('POST', `/human-tasks/${task}/answer/`, answer);
    },
    async decide(run, request, decision, reason) {
      const path = `/workflows/workflow_run/${run}/agent-approval/${request}/${decision}/`;
      const envelope = await call<{ status: number }>('POST', path, { reason });
      if (envelope.status !== 200) throw new Error(`the decision was not taken: ${JSON.stringify(envelope)}`);
    },
    async callBack(url, body) {
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      const answer = await response.text();
      const { accepted } = (response.ok ? JSON.parse(answer) : {}) as { accepted?: boolean };
      if (accepted !== true) throw new Error(`the callback was answered with ${response.status}: ${answer}`);
    },
  };
}
