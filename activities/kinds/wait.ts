// A node that waits for a time or for a callback: the start and the end of its wait.
import type { WaitFacts } from '../../contract/activities.js';
import { readClock } from '../../db/core/clock.js';
import { startWait, endWait, readAnswer } from '../../db/waits/waits-repository.js';
import { waitNode, waitUntil } from '../../graph/nodes/wait.js';
import { NodeFailure } from '../node/failures.js';
import { refuseInCase } from './refuse-in-case.js';
import type { NodeOutcome, NodeStep, NodeTask } from '../node/node-step.js';
import { RECORDING_FACTOR, structureBytes } from '../node/payload-weight.js';
import { findShallowJson } from '../../graph/shallow-json.js';
import { toWaitFacts, endedWait, type WaitDeps } from './wait-deps.js';

/** Needs no claim, because one idempotent statement starts the node and its wait. */
export function createStartWaitStep({ db, contexts, callbacks }: WaitDeps): NodeStep<WaitFacts> {
  return {
    isClaimed: false,
    factsOf: () => endedWait('callback'),
    async run(task) {
      const data = waitNode.schema.parse(task.node.data);
      const values = await contexts.loadValues(task, [data.seconds, data.until]);
      const kind = data.mode === 'callback' ? 'callback' : 'time';
      if (kind === 'callback') refuseInCase(task);
      const nowMs = await readClock(db);
      const skips = kind === 'time' && task.run.test?.skips_waits === true;
      const untilMs = skips ? nowMs : waitUntil(data, values, nowMs);
      // The address is created even if no node passes it on, because everybody who may run the workflow can see it.
      await callbacks.urlsOf(task.run, task, new Set([task.nodeId]));
      return { facts: toWaitFacts(await startWait(db, task, { kind, untilMs }), nowMs) };
    },
  };
}

/** Returns undefined before the time of the wait. */
export async function endTime(
  { db }: Pick<WaitDeps, 'db'>,
  { untilMs, isOver }: WaitFacts,
): Promise<NodeOutcome | undefined> {
  if (isOver !== true && (await readClock(db)) < untilMs) return undefined;
  return { output: { content: new Date(untilMs).toISOString() } };
}

/** Returns undefined if the wait is not over yet. Throws `wait_timeout` if no callback came in time. */
export async function endCallback({ db, secretBox }: WaitDeps, task: NodeTask): Promise<NodeOutcome | undefined> {
  const ended = await endWait(db, task);
  if (ended === undefined) return undefined;
  if (ended.answerBytes === null) throw new NodeFailure('wait_timeout', 'No callback came in time.');
  const { memory } = task;
  await memory.resize(RECORDING_FACTOR * ended.answerBytes);
  const content = secretBox.open(await readAnswer(db, task), 'callback-answer', task.runId, task.path, task.nodeId);
  await memory.resize(memory.bytes + structureBytes(content));
  const json = findShallowJson(content);
  return { output: json === undefined ? { content } : { content, json } };
}
