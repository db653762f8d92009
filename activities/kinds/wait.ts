// A node that waits, as two steps: the first one begins the wait, the second one ends it when it is over. Postgres decides
// whether it is (db/waits/waits-repository.ts), so each step may be repeated.
import type { EndWaitFacts, EndWaitRef, WaitFacts } from '../../contract/activities.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { Database } from '../../db/core/client.js';
import { beginWait, endWait, readAnswer } from '../../db/waits/waits-repository.js';
import { waitNode, waitUntil } from '../../graph/nodes/wait.js';
import type { NodeOutput } from '../../graph/template.js';
import type { CallbackUrls } from '../node/callback-urls.js';
import { NodeFailure, runClosedFailure } from '../node/failures.js';
import type { NodeStep, NodeTask } from '../node/node-step.js';
import { RECORDING_FACTOR, structureBytes } from '../node/payload-weight.js';
import type { RunContexts } from '../node/run-context.js';
import { settledFacts } from '../node/run-node.js';
import { toShallowJson } from './shallow-json.js';

interface WaitDeps {
  db: Database;
  secretBox: SecretBox;
  contexts: RunContexts;
  callbacks: CallbackUrls;
}

const TIME_OUT = 'wait_timeout';

const frame = { maxAttempts: Number.POSITIVE_INFINITY, firstDelayMs: 500, attemptOf: () => 1 };

/** Nothing is claimed before: the node begins together with its wait. */
export function createBeginWaitStep({ db, contexts, callbacks }: WaitDeps): NodeStep<WaitFacts> {
  return {
    ...frame,
    // An earlier attempt has ended the wait: the second step finds how.
    settled: () => ({ for: 'callback', untilMs: 0, isOver: true }),
    async perform(task) {
      const data = waitNode.schema.parse(task.node.data);
      const scope = await contexts.loadScope(task, [data.seconds, data.until]);
      const kind = data.mode === 'callback' ? 'callback' : 'time';
      const nowMs = Date.now();
      const untilMs = waitUntil(data, scope, nowMs);
      // Its address is shown to whoever may run the workflow, also where no node hands it on.
      await callbacks.urlsOf(task.run, task, new Set([task.nodeId]));
      const wait = await beginWait(db, task, { kind, untilMs });
      if (wait === undefined) throw runClosedFailure();
      // A callback that came before its wait ends it at once.
      const isOver = wait.isAnswered || wait.untilMs <= nowMs;
      return { for: wait.kind, untilMs: wait.untilMs, ...(isOver && { isOver }) };
    },
  };
}

/** Nothing is claimed here either: what ends a wait stays as it is, so that every attempt finds the same. */
export function createEndWaitStep({ db, secretBox }: WaitDeps, ref: EndWaitRef): NodeStep<EndWaitFacts> {
  return {
    ...frame,
    settled: settledFacts,
    survives: (code) => ref.hasTimeoutLink && code === TIME_OUT,
    async perform(task, end) {
      const output = ref.wait.for === 'time' ? toTimeOutput(ref.wait) : await toCallbackOutput(task);
      if (output === undefined) return { isWaiting: true };
      await end({ output });
      return {};
    },
  };

  async function toCallbackOutput(task: NodeTask): Promise<NodeOutput | undefined> {
    const ended = await endWait(db, task);
    if (ended === undefined) return undefined;
    if (ended.answerBytes === null) throw new NodeFailure(TIME_OUT, 'No callback came in time.');
    const { memory } = task;
    await memory.resize(RECORDING_FACTOR * ended.answerBytes);
    const content = secretBox.open(await readAnswer(db, task), 'callback');
    await memory.resize(memory.bytes + structureBytes(content));
    const json = toShallowJson(content);
    return json === undefined ? { content } : { content, json };
  }
}

/** A wait for a time needs nobody to decide when it is over. */
function toTimeOutput({ untilMs, isOver }: WaitFacts): NodeOutput | undefined {
  if (isOver !== true && Date.now() < untilMs) return undefined;
  return { content: new Date(untilMs).toISOString() };
}
