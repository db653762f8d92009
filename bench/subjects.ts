// The measured subjects (the service and the twin, each in its variants, and peers), with the same interface for the
// client.
import { Agent, request } from 'undici';
import { toDrawing, type Graph, type JobInput } from './graphs.js';
import { credentialHeaders } from '../harness/client/api-client.js';
import { createTimedClient, type TimedClient } from '../harness/client/timed-client.js';
import type { Part } from './processes.js';
import type { BareStack } from '../harness/stack/stack.js';
import type { TwinJob, TwinVariant } from './twin/jobs.js';

/**
 * The values of EXECUTION. An activity executes one node that calls another system or runs code (`visible`), or several
 * such nodes (`dense`).
 */
export const VARIANTS = ['visible', 'dense'] as const;
export type Variant = (typeof VARIANTS)[number];
/** The other service of a paired benchmark, which has the build of another checkout or other settings. */
type OtherName = `${Variant}-other`;
export type ServiceName = Variant | OtherName;
type TwinName = `twin-${TwinVariant}`;
/** A peer is any other program that answers a POST when its work is done. The name contains its address. */
type PeerName = `beside ${string}`;
export type SubjectName = ServiceName | TwinName | PeerName;

export function isTwin(name: SubjectName): name is TwinName {
  return name.startsWith('twin-');
}

export function isPeer(name: SubjectName): name is PeerName {
  return name.startsWith('beside ');
}

interface Started {
  id: string;
  /** The time from the request to the end of its answer. */
  acceptedMs: number;
}

interface Polled {
  isTerminal: boolean;
  hasSucceeded: boolean;
  tookMs: number;
}

export interface Subject {
  name: SubjectName;
  /** The stack whose Temporal executes its workflows. The twins use the first service's stack; peers have none. */
  stack?: BareStack;
  /** The current process ids, which change with every restart. 0 means unknown. */
  pids(): Record<Exclude<Part, 'client'>, number>;
  /** Creates the project and workflow that runs of the graph need, so that this is not measured. */
  prepare(graph: Graph): Promise<void>;
  /** Sends one request that is answered when the run has ended. Throws if the run failed. Twins do not support it. */
  runToEnd?(graph: Graph, input: JobInput): Promise<{ id: string }>;
  close(): Promise<void>;
}

/** A subject that answers a start at once, so the client polls for the end. */
export interface PolledSubject extends Subject {
  stack: BareStack;
  start(graph: Graph, input: JobInput): Promise<Started>;
  poll(id: string): Promise<Polled>;
}

export interface Service extends PolledSubject {
  name: ServiceName;
  runToEnd(graph: Graph, input: JobInput): Promise<{ id: string }>;
  /** Returns the project of its workflows, which the first call of `prepare` creates. */
  projectId(): number;
}

export interface Twin extends PolledSubject {
  name: TwinName;
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

export function createService({ name, stack, targetUrl }: ServiceSettings): Service {
  const client = createTimedClient(`${stack.stack.api_url}/api/v1`, { headers: credentialHeaders(stack.apiKey) });
  const workflows = new Map<string, number>();
  let project: number | undefined;
  const pathOf = (graph: Graph): string => `/workflows/${workflows.get(graph.name)}/run/`;
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
      const { body, totalMs } = await client.send<Envelope>('POST', pathOf(graph), input);
      if (body.status !== 201) throw new Error(`the run was not accepted: ${JSON.stringify(body).slice(0, 500)}`);
      return { id: body.data.id, acceptedMs: totalMs };
    },
    async runToEnd(graph, input) {
      const { body } = await client.send<Envelope>('POST', pathOf(graph), input, { prefer: 'wait=30' });
      if (body.data.status !== 'succeed') throw new Error(`a run has not ended: ${JSON.stringify(body).slice(0, 500)}`);
      return body.data;
    },
    projectId: () => project!,
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

export function createTwin({ variant, stack, gatewayUrl, targetUrl, pids }: TwinSettings): Twin {
  const client = createTimedClient(gatewayUrl);
  return {
    name: `twin-${variant}`,
    stack,
    prepare: () => Promise.resolve(),
    async start({ shape, size, concurrency = size }, input) {
      const job: TwinJob = { shape, size, concurrency, targetUrl, keeps: variant === 'keeping', ...input };
      const { body, totalMs } = await client.send<{ id: string }>('POST', '/run', job);
      return { id: body.id, acceptedMs: totalMs };
    },
    async poll(id) {
      const { body, totalMs } = await client.send<{ status: string }>('GET', `/run/${id}`);
      return toPolled(body.status, totalMs);
    },
    pids,
    close: () => client.close(),
  };
}

/** A peer is configured with its calls before the benchmark. Its processes are unknown. */
export function createPeer(url: string): Subject & Required<Pick<Subject, 'runToEnd'>> {
  const dispatcher = new Agent({ connections: 128 });
  return {
    name: `beside ${url}`,
    pids: () => ({ worker: 0, api: 0, temporal: 0, postgres: 0 }),
    prepare: () => Promise.resolve(),
    async runToEnd(_graph, input) {
      const headers = { 'content-type': 'application/json' };
      const { statusCode, body } = await request(url, {
        method: 'POST',
        dispatcher,
        headers,
        body: JSON.stringify(input),
      });
      const text = await body.text();
      if (statusCode > 299) throw new Error(`${url} answered ${statusCode}: ${text.slice(0, 500)}`);
      return { id: '' };
    },
    close: () => dispatcher.destroy(),
  };
}

function toPolled(status: string, tookMs: number): Polled {
  const hasSucceeded = status === 'succeed';
  return { isTerminal: hasSucceeded || status === 'failed', hasSucceeded, tookMs };
}

async function createdId(client: TimedClient, path: string, body: unknown): Promise<number> {
  return (await client.send<{ id: number }>('POST', path, body)).body.id;
}
