// A client as a careful user would write it. It starts a run with an Idempotency-Key, answers nodes that wait
// (answering.ts), and polls until the run has ended. It repeats starts and polls until it gets an answer. It only
// collects evidence, which invariants.ts checks.
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, type Envelope } from '../harness/client/api-client.js';
import { retryingFetch } from '../harness/client/retrying.js';
import { createAnswerer } from './answering.js';
import type { Ending, Poll, RunEvidence } from './evidence.js';
import type { Service } from './service.js';
import type { Shape } from './shapes.js';

const POLL_EVERY_MS = 300;
const LOOKS_AFTER_THE_END = 2;
const LOOK_EVERY_MS = 500;

export interface ClientRun {
  /** The client adds evidence until `ended` settles, and at each `look`. */
  evidence: RunEvidence;
  /** The run's id. */
  accepted: Promise<string>;
  /** Resolves after the first terminal poll and two more polls. Rejects on `signal`, and if the client fails. */
  ended: Promise<void>;
  /** Polls once more. */
  look: () => Promise<void>;
}

interface StartOptions {
  workflowId: number;
  shape: Shape;
  tag: string;
  ending: Ending;
  /** Returns true if nodes that wait for an answer may get one now. */
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
  const fetch = retryingFetch(signal, (failure) => evidence.failures.push(failure));
  const api = createApiClient(service.apiUrl, service.apiKey, { fetch });
  const look = async (): Promise<void> => {
    const { data } = await api.poll(evidence.runId!);
    const nodes = data.data ?? {};
    note(evidence, { at: Date.now(), status: data.status, nodes });
    answers.see(nodes);
  };
  const accept = async (): Promise<string> => {
    const headers = { 'idempotency-key': tag };
    const { body } = await api.post<Envelope>(`/workflows/${workflowId}/run/`, { body: { tag }, headers });
    if (body.status !== 201) throw new Error(`the run ${tag} was not accepted: ${JSON.stringify(body)}`);
    evidence.runId = body.data.id;
    return body.data.id;
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
  // The caller awaits both promises later, or never if the row of the matrix is aborted.
  for (const promise of [accepted, ended]) promise.catch(() => undefined);
  return { evidence, accepted, ended, look };
}

function note(evidence: RunEvidence, poll: Poll): void {
  if (evidence.statuses.at(-1) !== poll.status) evidence.statuses.push(poll.status);
  if (evidence.firstTerminal !== undefined) evidence.later.push(poll);
  else if (poll.status === 'succeed' || poll.status === 'failed') evidence.firstTerminal = poll;
}
