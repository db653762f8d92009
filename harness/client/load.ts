// A client for load tests, with many connections. It does not parse the answers to polls.
import { randomUUID } from 'node:crypto';
import PQueue from 'p-queue';
import { setTimeout as pause } from 'node:timers/promises';
import { credentialHeaders, type Envelope } from './api-client.js';
import { createTimedClient } from './timed-client.js';

export interface LoadClient {
  createWorkflow(title: string, data: object): Promise<number>;
  /** Starts a run with a unique tag as input. Throws network errors, and an error if the run is not accepted. */
  start(workflowId: number): Promise<string>;
  poll(runId: string): Promise<Poll>;
  close(): Promise<void>;
}

interface Service {
  apiUrl: string;
  apiKey: string;
}

interface Poll {
  status: string;
  sizeBytes: number;
}

export function createLoadClient({ apiUrl, apiKey }: Service, connections: number): LoadClient {
  const headers = credentialHeaders(apiKey);
  const client = createTimedClient(`${apiUrl}/api/v1`, { headers, connections, timeoutMs: 0 });
  const post = async <T>(path: string, body: object): Promise<T> => (await client.send<T>('POST', path, body)).body;
  return {
    async createWorkflow(title, data) {
      const project = await post<{ id: number }>('/projects/', { name: title });
      return (await post<{ id: number }>('/workflows/', { project: project.id, title, data })).id;
    },
    async start(workflowId) {
      const envelope = await post<Envelope>(`/workflows/${workflowId}/run/`, { tag: randomUUID() });
      if (envelope.status !== 201) throw new Error(`the run was not accepted: ${JSON.stringify(envelope)}`);
      return envelope.data.id;
    },
    async poll(runId) {
      const { head, sizeBytes } = await client.readHead(`/workflows/workflow_result/?id=${runId}`);
      const status = /"data":\{"id":"[^"]+","status":"([^"]+)"/.exec(head)?.[1];
      if (status === undefined) throw new Error(`a poll was answered with ${head.slice(0, 200)}`);
      return { status, sizeBytes };
    },
    close: () => client.close(),
  };
}

export interface Started {
  runIds: string[];
  latenciesMs: number[];
  tookMs: number;
}

/** Starts `count` runs with `atOnce` requests at a time. */
export async function startRuns(
  client: LoadClient,
  workflowId: number,
  { count, atOnce, onStarted }: { count: number; atOnce: number; onStarted?: (runId: string) => void },
): Promise<Started> {
  const runIds: string[] = [];
  const latenciesMs: number[] = [];
  const queue = new PQueue({ concurrency: atOnce });
  const startedAt = performance.now();
  const start = async (): Promise<void> => {
    const sentAt = performance.now();
    const runId = await client.start(workflowId);
    latenciesMs.push(performance.now() - sentAt);
    runIds.push(runId);
    onStarted?.(runId);
  };
  await queue.addAll(Array.from({ length: count }, () => start));
  return { runIds, latenciesMs, tookMs: performance.now() - startedAt };
}

export interface Ends {
  succeeded: number;
  failed: number;
  polls: number;
  polledBytes: number;
  pollErrors: string[];
  latenciesMs: number[];
}

/** If no run was added or has ended for this long, polling stops, and the open runs count as lost. */
const STALL_MS = 120_000;

/**
 * Polls the runs that are added with `add`. `finish` is called after the last `add`; it resolves when all runs have
 * ended, or when polling stops (`STALL_MS`).
 */
export function pollRuns(client: LoadClient, { pollers, everyMs }: { pollers: number; everyMs: number }) {
  const open: string[] = [];
  const ends: Ends = { succeeded: 0, failed: 0, polls: 0, polledBytes: 0, pollErrors: [], latenciesMs: [] };
  let isComplete = false;
  let inHand = 0;
  let changedAt = Date.now();
  const poller = async (): Promise<void> => {
    for (;;) {
      const runId = open.shift();
      if (Date.now() - changedAt > STALL_MS) return;
      if (runId === undefined) {
        if (isComplete && inHand === 0) return;
        await pause(everyMs);
        continue;
      }
      inHand += 1;
      const sentAt = performance.now();
      try {
        const { status, sizeBytes } = await client.poll(runId);
        ends.latenciesMs.push(performance.now() - sentAt);
        ends.polls += 1;
        ends.polledBytes += sizeBytes;
        if (!status.startsWith('in ')) changedAt = Date.now();
        if (status === 'succeed') ends.succeeded += 1;
        else if (status === 'failed') ends.failed += 1;
        else open.push(runId);
      } catch (error) {
        ends.pollErrors.push(error instanceof Error ? error.message : String(error));
        open.push(runId);
      }
      inHand -= 1;
      await pause(everyMs);
    }
  };
  const polling = Promise.all(Array.from({ length: pollers }, poller));
  return {
    add: (runId: string): void => {
      changedAt = Date.now();
      open.push(runId);
    },
    async finish(): Promise<Ends> {
      isComplete = true;
      await polling;
      return ends;
    },
  };
}
