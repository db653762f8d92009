// The part of the client that answers waiting nodes. It sends answers to a node until one is refused, because only one
// may be accepted.
import { setTimeout as pause } from 'node:timers/promises';
import type { NodeEntry } from '../harness/client/api-client.js';
import type { GivenAnswer, Poll, RunEvidence } from './evidence.js';
import type { Service } from './service.js';

/** Nodes wait at least this long, so that faults occur while they wait. */
const ANSWER_AFTER_MS = 1_500;
const AGAIN_AFTER_MS = 300;
/** A frozen server accepts a connection but does not answer. */
const PATIENCE_MS = 10_000;

interface Options {
  service: Service;
  evidence: Pick<RunEvidence, 'answers' | 'failures' | 'tag'>;
  mayAnswer: () => boolean;
  signal: AbortSignal;
}

interface Answerer {
  /** Starts to answer nodes that wait for an answer. */
  see: (nodes: Poll['nodes']) => void;
  /** Resolves when all these nodes are answered and have refused a further answer. */
  done: () => Promise<void>;
}

export function createAnswerer(options: Options): Answerer {
  const answering = new Map<string, Promise<void>>();
  return {
    see(nodes) {
      for (const [nodeId, { waiting }] of Object.entries(nodes)) {
        const send = toSender(options, waiting);
        if (send === undefined || answering.has(nodeId)) continue;
        const answered = answer(options, nodeId, send);
        answered.catch(() => undefined); // awaited later, or never if the row of the matrix is aborted
        answering.set(nodeId, answered);
      }
    },
    async done() {
      await Promise.all(answering.values());
    },
  };
}

type Send = (text: string) => Promise<Response>;

function toSender({ service, signal }: Options, waiting: NodeEntry['waiting']): Send | undefined {
  const post = (url: string, headers: Record<string, string>, body: string): Promise<Response> =>
    fetch(url, { method: 'POST', headers, body, signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]) });
  if (waiting?.callback_url !== undefined) {
    const url = waiting.callback_url;
    return (text) => post(url, { 'content-type': 'text/plain' }, text);
  }
  if (waiting?.task_id === undefined) return undefined;
  const url = `${service.apiUrl}/api/v1/human-tasks/${waiting.task_id}/answer/`;
  const headers = { 'x-api-key': service.apiKey, 'content-type': 'application/json' };
  return (text) => post(url, headers, JSON.stringify({ action: 'done', comment: text }));
}

async function answer({ evidence, mayAnswer, signal }: Options, nodeId: string, send: Send): Promise<void> {
  do await pause(ANSWER_AFTER_MS, undefined, { signal });
  while (!mayAnswer());
  for (let attempt = 1; ; attempt++) {
    const text = `${evidence.tag}/answer-${attempt}`;
    const startedAt = Date.now();
    const { outcome, what } = await send(text).then(judge, toLost);
    signal.throwIfAborted();
    evidence.answers.push({ nodeId, text, outcome });
    if (outcome === 'refused') return;
    if (outcome === 'lost') {
      evidence.failures.push({ from: startedAt, until: Date.now(), what: `an answer got ${what}` });
    }
    await pause(AGAIN_AFTER_MS, undefined, { signal });
  }
}

function toLost(error: unknown): Judged {
  return { outcome: 'lost', what: (error as Error).name };
}

interface Judged extends Pick<GivenAnswer, 'outcome'> {
  what: string;
}

async function judge(response: Response): Promise<Judged> {
  const text = await response.text().catch(() => undefined);
  if (text === undefined) return { outcome: 'lost', what: 'half an answer' };
  const what = `status ${response.status}`;
  if (response.status >= 500) return { outcome: 'lost', what };
  if (response.status === 409 || response.status === 410) return { outcome: 'refused', what };
  if (response.status !== 200) throw new Error(`an answer got ${what}: ${text}`);
  // The answer to a human task returns the task, without `accepted`.
  const { accepted = true } = JSON.parse(text) as { accepted?: boolean };
  return { outcome: accepted ? 'accepted' : 'refused', what };
}
