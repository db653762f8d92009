// The measured subjects (the service and the twin, each in its variants), with the same interface for the client.
import { toDrawing, type Graph, type JobInput } from './graphs.js';
import { credentialHeaders } from '../harness/client/api-client.js';
import { createTimedClient, type TimedClient } from '../harness/client/timed-client.js';
import type { Part } from './processes.js';
import type { BareStack } from '../harness/stack/stack.js';
import type { TwinJob, TwinVariant } from './twin/jobs.js';

/** The values of EXECUTION: an activity executes one node that leaves the process (`visible`), or several (`dense`). */
export const VARIANTS = ['visible', 'dense'] as const;
export type Variant = (typeof VARIANTS)[number];
/** The other service of a paired benchmark, which has the build of another checkout or other settings. */
type OtherName = `${Variant}-other`;
export type ServiceName = Variant | OtherName;
type TwinName = `twin-${TwinVariant}`;
export type SubjectName = ServiceName | TwinName;

export function isTwin(name: SubjectName): name is TwinName {
  return name.startsWith('twin-');
}

interface Started {
  id: string;
  /** The times from the request to the first byte of its answer, and to the end of the answer. */
  firstByteMs: number;
  acceptedMs: number;
}

interface Polled {
  isTerminal: boolean;
  hasSucceeded: boolean;
  tookMs: number;
}

export interface Subject {
  name: SubjectName;
  /** The stack whose Temporal executes its workflows. The twins use the first service's stack. */
  stack: BareStack;
  /** Creates the project and workflow that runs of the graph need, so that this is not measured. */
  prepare(graph: Graph): Promise<void>;
  start(graph: Graph, input: JobInput): Promise<Started>;
  poll(id: string): Promise<Polled>;
  /** The current process ids, which change with every restart. */
  pids(): Record<Exclude<Part, 'client'>, number>;
  close(): Promise<void>;
}

interface ServiceSettings {
  name: ServiceName;
  stack: BareStack;
  targetUrl: string;
}

interface Envelope {
  status: number;
  data: { id: string; status: string };
}

export function createService({ name, stack, targetUrl }: ServiceSettings): Subject {
  const client = createTimedClient(`${stack.stack.api_url}/api/v1`, { headers: credentialHeaders(stack.apiKey) });
  const workflows = new Map<string, number>();
  let project: number | undefined;
  return {
    name,
    stack,
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
    pids() {
      const { worker = 0, api = 0, temporal = 0, postgres = 0 } = stack.stack.pids;
      return { worker, api, temporal, postgres };
    },
    close: () => client.close(),
  };
}

interface TwinSettings {
  variant: TwinVariant;
  stack: BareStack;
  gatewayUrl: string;
  targetUrl: string;
  pids: Subject['pids'];
}

export function createTwin({ variant, stack, gatewayUrl, targetUrl, pids }: TwinSettings): Subject {
  const client = createTimedClient(gatewayUrl);
  return {
    name: `twin-${variant}`,
    stack,
    prepare: () => Promise.resolve(),
    async start({ shape, size, concurrency = size }, input) {
      const job: TwinJob = { shape, size, concurrency, targetUrl, ...input };
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

async function createdId(client: TimedClient, path: string, body: unknown): Promise<number> {
  return (await client.send<{ id: number }>('POST', path, body)).body.id;
}
