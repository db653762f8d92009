// A client as a careful user would write it: it starts a run with an Idempotency-Key, sends the request again while it
// gets no answer, and polls until the run has ended. It judges nothing: what it saw is evidence.
import { setTimeout as pause } from 'node:timers/promises';
import type { Envelope } from '../harness/client/api-client.js';
import { createAnswerer } from './answering.js';
import type { ClientFailure, Ending, Poll, RunEvidence } from './evidence.js';
import type { Service } from './service.js';
import type { Shape } from './shapes.js';

const POLL_EVERY_MS = 300;
/** A frozen server takes a connection and says nothing. */
const PATIENCE_MS = 10_000;
const LOOKS_AFTER_THE_END = 2;
const LOOK_EVERY_MS = 500;

export interface ClientRun {
  /** Grows while the client works. */
  evidence: RunEvidence;
  /** Resolves with the run's id. */
  accepted: Promise<string>;
  /** Resolves after the first terminal poll and some more; rejects on `signal`. */
  ended: Promise<void>;
  /** One more poll. */
  look: () => Promise<void>;
}

interface ClientRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

interface StartOptions {
  workflowId: number;
  shape: Shape;
  tag: string;
  ending: Ending;
  /** Whether nodes that wait for an answer get one now. */
  mayAnswer: () => boolean;
  signal: AbortSignal;
}

export function startRun(service: Service, options: StartOptions): ClientRun {
  const { workflowId, shape, tag, ending, mayAnswer, signal } = options;
  const evidence: RunEvidence = {
    tag,
    shape: shape.name,
    ending,
    expected: shape.expect(tag),
    runId: undefined,
    statuses: [],
    firstTerminal: undefined,
    later: [],
    failures: [],
    answers: [],
    stored: undefined,
    children: [],
  };
  const answers = createAnswerer({ service, evidence, mayAnswer, signal });
  const ask = <T>(path: string, init: ClientRequest) =>
    untilAnswered<T>(service, path, init, evidence.failures, signal);
  const look = async (): Promise<void> => {
    const { data } = await ask<Envelope>(`/workflows/workflow_result/?id=${evidence.runId}`, {});
    const nodes = data.data ?? {};
    note(evidence, { at: Date.now(), status: data.status, nodes });
    answers.see(nodes);
  };
  const accept = async (): Promise<string> => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': tag };
    const init = { method: 'POST', headers, body: JSON.stringify({ tag }) };
    const envelope = await ask<Envelope>(`/workflows/${workflowId}/run/`, init);
    if (envelope.status !== 201) throw new Error(`the run ${tag} was not accepted: ${JSON.stringify(envelope)}`);
    evidence.runId = envelope.data.id;
    return envelope.data.id;
  };
  const accepted = accept();
  const follow = async (): Promise<void> => {
    await accepted;
    while (evidence.firstTerminal === undefined) {
      await look();
      await pause(POLL_EVERY_MS, undefined, { signal });
    }
    for (let count = 0; count < LOOKS_AFTER_THE_END; count++) {
      await pause(LOOK_EVERY_MS, undefined, { signal });
      await look();
    }
    await answers.done();
  };
  const ended = follow();
  // Both are awaited later, or not at all when the row breaks off.
  for (const promise of [accepted, ended]) promise.catch(() => undefined);
  return { evidence, accepted, ended, look };
}

function note(evidence: RunEvidence, poll: Poll): void {
  if (evidence.statuses.at(-1) !== poll.status) evidence.statuses.push(poll.status);
  if (evidence.firstTerminal !== undefined) evidence.later.push(poll);
  else if (poll.status === 'succeed' || poll.status === 'failed') evidence.firstTerminal = poll;
}

/** Sends the request again after a broken connection, silence or a 5xx, each of which it notes. Any other refusal throws. */
async function untilAnswered<T>(
  { apiUrl, apiKey }: Service,
  path: string,
  init: ClientRequest,
  failures: ClientFailure[],
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    const from = Date.now();
    const answer = await fetch(`${apiUrl}/api/v1${path}`, {
      ...init,
      headers: { 'x-api-key': apiKey, ...init.headers },
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch((error: unknown) => ({ status: 0, text: describe(error) }));
    if (answer.status === 200 || answer.status === 201) return JSON.parse(answer.text) as T;
    signal.throwIfAborted();
    const what = `${init.method ?? 'GET'} ${path.split('?')[0]} got ${answer.status === 0 ? answer.text : `status ${answer.status}`}`;
    if (answer.status !== 0 && answer.status < 500) throw new Error(`${what}: ${answer.text}`);
    failures.push({ from, until: Date.now(), what });
    await pause(POLL_EVERY_MS, undefined, { signal });
  }
}

function describe(error: unknown): string {
  const { name, cause } = error as Error;
  return (cause as { code?: string } | undefined)?.code ?? name;
}
