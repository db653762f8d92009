// A minimal gateway for the twin. `POST /run` with a TwinJob starts a workflow. `GET /run/<id>` answers from memory,
// where the gateway waits for the workflow's result, or from PostgreSQL if the job is stored there.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@temporalio/client';
import type { TwinJob } from './jobs.js';
import type { Store } from './store.js';
import type { twin } from './workflows.js';

interface Job {
  id: string;
  status: 'in progress' | 'succeed' | 'failed';
  answers?: unknown;
}

interface Twin {
  client: Client;
  taskQueue: string;
  /** True if the worker is in this process. */
  isEager: boolean;
  /** The store of jobs with `keeps`. */
  store?: Store;
}

/** Serves on a free port, and sends the port to the parent process. */
export function serve(twinOf: Twin): void {
  const jobs = new Map<string, Job>();
  const server = createServer((request, response) => {
    answer(twinOf, jobs, request, response).catch((error: unknown) => {
      console.error(error);
      send(response, 500, {});
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port });
  });
}

async function answer(
  twinOf: Twin,
  jobs: Map<string, Job>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'POST') {
    const input = JSON.parse(await readText(request)) as TwinJob;
    return send(response, 200, await start(twinOf, jobs, input));
  }
  const id = request.url?.split('/').at(-1) ?? '';
  const job = jobs.get(id) ?? (await twinOf.store?.readRun(id));
  send(response, job === undefined ? 404 : 200, job ?? {});
}

async function start(
  { client, taskQueue, isEager, store }: Twin,
  jobs: Map<string, Job>,
  input: TwinJob,
): Promise<Job> {
  const id = randomUUID();
  // The run is stored before its start, so that a started run is never lost.
  if (input.keeps) await store?.openRun(id, input);
  const options = { workflowId: id, taskQueue, args: [input] as [TwinJob], requestEagerStart: isEager };
  const handle = await client.workflow.start<typeof twin>('twin', options);
  const job: Job = { id, status: 'in progress' };
  if (input.keeps) return job;
  jobs.set(id, job);
  void handle.result().then(
    (answers) => Object.assign(job, { status: 'succeed', answers }),
    () => (job.status = 'failed'),
  );
  return job;
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  return text;
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
