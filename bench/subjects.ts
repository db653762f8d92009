// Who is measured: the service, and the twin in its two variants, behind one face for the client that drives them.
import { toDrawing, type Graph, type JobInput } from './graphs.js';
import { createJsonClient, type JsonClient } from './http-client.js';
import type { Part } from './processes.js';
import type { TwinJob, TwinVariant } from './twin/jobs.js';

export type SubjectName = 'service' | 'twin-normal' | 'twin-local';

export interface Started {
  id: string;
  /** From the request to the first byte of its answer, and to its end. */
  firstByteMs: number;
  acceptedMs: number;
}

export interface Polled {
  isTerminal: boolean;
  hasSucceeded: boolean;
  tookMs: number;
}

export interface Subject {
  name: SubjectName;
  /** Makes what a run needs before its clock starts. */
  prepare(graph: Graph): Promise<void>;
  start(graph: Graph, input: JobInput): Promise<Started>;
  poll(id: string): Promise<Polled>;
  /** As they are now. */
  pids(): Record<Exclude<Part, 'client'>, number>;
  close(): Promise<void>;
}

interface ServiceSettings {
  apiUrl: string;
  apiKey: string;
  targetUrl: string;
  pids: Subject['pids'];
}

interface Envelope {
  status: number;
  data: { id: string; status: string };
}

export function createService({ apiUrl, apiKey, targetUrl, pids }: ServiceSettings): Subject {
  const client = createJsonClient(`${apiUrl}/api/v1`, { 'x-api-key': apiKey });
  const workflows = new Map<string, number>();
  let project: number | undefined;
  return {
    name: 'service',
    async prepare(graph) {
      if (workflows.has(graph.name)) return;
      project ??= await createdId(client, '/projects/', { name: 'Benchmark' });
      const data = toDrawing(graph, targetUrl);
      workflows.set(graph.name, await createdId(client, '/workflows/', { project, title: graph.name, data }));
    },
    async start(graph, input) {
      const path = `/workflows/${workflows.get(graph.name)}/run/`;
      const { body, firstByteMs, totalMs } = await client.send<Envelope>('POST', path, input);
      if (body.status !== 201) throw new Error(`the run was not accepted: ${JSON.stringify(body).slice(0, 500)}`);
      return { id: body.data.id, firstByteMs, acceptedMs: totalMs };
    },
    async poll(id) {
      const { body, totalMs } = await client.send<Envelope>('GET', `/workflows/workflow_result/?id=${id}`);
      return toPolled(body.data.status, totalMs);
    },
    pids,
    close: () => client.close(),
  };
}

interface TwinSettings {
  variant: TwinVariant;
  gatewayUrl: string;
  targetUrl: string;
  pids: Subject['pids'];
}

export function createTwin({ variant, gatewayUrl, targetUrl, pids }: TwinSettings): Subject {
  const client = createJsonClient(gatewayUrl);
  return {
    name: `twin-${variant}`,
    prepare: () => Promise.resolve(),
    async start({ shape, size }, input) {
      const job: TwinJob = { variant, shape, size, targetUrl, ...input };
      const { body, firstByteMs, totalMs } = await client.send<{ id: string }>('POST', '/run', job);
      return { id: body.id, firstByteMs, acceptedMs: totalMs };
    },
    async poll(id) {
      const { body, totalMs } = await client.send<{ status: string }>('GET', `/run/${id}`);
      return toPolled(body.status, totalMs);
    },
    pids,
    close: () => client.close(),
  };
}

function toPolled(status: string, tookMs: number): Polled {
  const hasSucceeded = status === 'succeed';
  return { isTerminal: hasSucceeded || status === 'failed', hasSucceeded, tookMs };
}

async function createdId(client: JsonClient, path: string, body: unknown): Promise<number> {
  return (await client.send<{ id: number }>('POST', path, body)).body.id;
}
