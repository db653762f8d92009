// A small client of the public API, with the types that tests need.
import type { components } from '../../clients/typescript/src/openapi.js';
import { eventually, type EventuallyOptions } from '../timing/eventually.js';

export interface ApiAnswer<T = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: T;
}

type Schemas = components['schemas'];

export interface ApprovalRequest {
  request_id: string;
  status: string;
  server_label: string;
  tool_name: string;
  arguments: unknown;
  [field: string]: unknown;
}

export type NodeEntry = Omit<Schemas['NodeResult'], 'result' | 'approval_requests'> & {
  result?: { content: string; [field: string]: unknown };
  approval_requests?: ApprovalRequest[];
};

/** The answer to a start or a poll of an existing run. */
export interface Envelope {
  status: number;
  data: Omit<Schemas['RunEnvelope']['data'], 'id' | 'data'> & { id: string; data: Record<string, NodeEntry> | null };
}

/** Runs in lists lack some of these fields and have others. */
export type RunRecord = Schemas['Run'] & { [field: string]: unknown };

export interface SendOptions {
  body?: unknown;
  /** The request body, which replaces `body` and is sent unchanged. */
  text?: string;
  headers?: Record<string, string>;
}

export interface ApiClient {
  get: <T>(path: string, options?: SendOptions) => Promise<ApiAnswer<T>>;
  post: <T>(path: string, options?: SendOptions) => Promise<ApiAnswer<T>>;
  put: <T>(path: string, options?: SendOptions) => Promise<ApiAnswer<T>>;
  patch: <T>(path: string, options?: SendOptions) => Promise<ApiAnswer<T>>;
  delete: <T>(path: string, options?: SendOptions) => Promise<ApiAnswer<T>>;
  /** Returns the project's id. */
  createProject: (name?: string) => Promise<number>;
  /** Returns the workflow's id. */
  createWorkflow: (projectId: number, data: object, title?: string) => Promise<number>;
  /** Starts a run with a JSON input and returns the envelope. */
  run: (workflowId: number, input?: unknown) => Promise<Envelope>;
  poll: (runId: string) => Promise<Envelope>;
  /** Polls until the status is terminal and returns that answer. */
  pollToEnd: (runId: string, options?: EventuallyOptions) => Promise<Envelope>;
  /** Creates a project and a workflow with this drawing, starts a run and waits for its end. */
  runToEnd: (data: object, input?: unknown, options?: EventuallyOptions) => Promise<FinishedRun>;
  history: (workflowId: number, runId: string) => Promise<RunRecord>;
}

export interface FinishedRun {
  projectId: number;
  workflowId: number;
  runId: string;
  status: string;
  nodes: Record<string, NodeEntry>;
}

/** An API key or a session token. Undefined sends requests without credentials. */
export type Credential = string | { session: string } | undefined;

export interface ClientOptions {
  /** Replaces the global `fetch`, for example by the one in retrying.ts, which repeats failed requests. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** Paths are relative to `/api/v1` and start with a slash. */
export function createApiClient(apiUrl: string, credential?: Credential, through: ClientOptions = {}): ApiClient {
  const sendRequest = through.fetch ?? fetch;
  const send = async <T>(
    method: string,
    path: string,
    { body, text, headers }: SendOptions = {},
  ): Promise<ApiAnswer<T>> => {
    const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await sendRequest(`${apiUrl}/api/v1${path}`, {
      method,
      headers: {
        ...credentialHeaders(credential),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
    });
    const answer = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(answer) : answer) as T };
  };
  const client: ApiClient = {
    get: (path, options) => send('GET', path, options),
    post: (path, options) => send('POST', path, options),
    put: (path, options) => send('PUT', path, options),
    patch: (path, options) => send('PATCH', path, options),
    delete: (path, options) => send('DELETE', path, options),
    async createProject(name = 'test project') {
      return created(await send<{ id: number }>('POST', '/projects/', { body: { name } }));
    },
    async createWorkflow(project, data, title = 'test workflow') {
      return created(await send<{ id: number }>('POST', '/workflows/', { body: { project, title, data } }));
    },
    async run(workflowId, input = {}) {
      return expectOk(await send<Envelope>('POST', `/workflows/${workflowId}/run/`, { body: input }));
    },
    async poll(runId) {
      return expectOk(await send<Envelope>('GET', `/workflows/workflow_result/?id=${runId}`));
    },
    pollToEnd(runId, options = { timeoutMs: 60_000, intervalMs: 50 }) {
      return eventually(async () => {
        const envelope = await client.poll(runId);
        const { status } = envelope.data;
        if (status === 'succeed' || status === 'failed') return envelope;
        throw new Error(`run ${runId} is still ${status}: ${JSON.stringify(envelope.data.data)?.slice(0, 2_000)}`);
      }, options);
    },
    async runToEnd(data, input, options) {
      const projectId = await client.createProject();
      const workflowId = await client.createWorkflow(projectId, data);
      const started = await client.run(workflowId, input);
      if (started.status !== 201) throw new Error(`the run was not accepted: ${JSON.stringify(started)}`);
      const runId = started.data.id;
      const { status, data: nodes } = (await client.pollToEnd(runId, options)).data;
      return { projectId, workflowId, runId, status, nodes: nodes ?? {} };
    },
    async history(workflowId, runId) {
      return expectOk(await send<RunRecord>('GET', `/workflows/${workflowId}/history/${runId}/`));
    },
  };
  return client;
}

export function credentialHeaders(credential: Credential): Record<string, string> {
  if (credential === undefined) return {};
  return typeof credential === 'string'
    ? { 'x-api-key': credential }
    : { authorization: `Bearer ${credential.session}` };
}

function created({ status, body }: ApiAnswer<{ id: number }>): number {
  if (status !== 201) throw new Error(`not created (${status}): ${JSON.stringify(body)}`);
  return body.id;
}

function expectOk<T>({ status, body }: ApiAnswer<T>): T {
  if (status !== 200) throw new Error(`the API answered ${status}: ${JSON.stringify(body)}`);
  return body;
}
