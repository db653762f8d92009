// A client of the public API.

export interface NodeState {
  status: 'in progress' | 'succeed' | 'failed';
  result?: { content: string };
  error?: { code: string; message: string };
}

export interface RunState {
  id: string;
  status: 'in queue' | 'in progress' | 'succeed' | 'failed' | 'not found';
  data: Record<string, NodeState> | null;
}

export interface FinishedRun {
  cost: Record<string, string>;
  /** Seconds. */
  duration: number | null;
}

export interface DemoApi {
  createProject: (name: string) => Promise<number>;
  createWorkflow: (project: number, title: string, data: object) => Promise<number>;
  startRun: (workflow: number, input: object) => Promise<RunState>;
  poll: (run: string) => Promise<RunState>;
  finishedRun: (workflow: number, run: string) => Promise<FinishedRun>;
}

interface Envelope {
  status: number;
  data: RunState;
}

export function createDemoApi(apiUrl: string, apiKey: string): DemoApi {
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${apiUrl}/api/v1${path}`, {
      method,
      headers: { 'X-Api-Key': apiKey, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  };
  return {
    createProject: async (name) => (await call<{ id: number }>('POST', '/projects/', { name })).id,
    createWorkflow: async (project, title, data) =>
      (await call<{ id: number }>('POST', '/workflows/', { project, title, data })).id,
    async startRun(workflow, input) {
      const envelope = await call<Envelope>('POST', `/workflows/${workflow}/run/`, input);
      if (envelope.status !== 201) throw new Error(`the run was not accepted: ${JSON.stringify(envelope)}`);
      return envelope.data;
    },
    poll: async (run) => (await call<Envelope>('GET', `/workflows/workflow_result/?id=${run}`)).data,
    finishedRun: (workflow, run) => call('GET', `/workflows/${workflow}/history/${run}/`),
  };
}
