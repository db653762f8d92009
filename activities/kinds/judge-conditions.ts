// Judges the conditions of a node: at once where that is cheap, else in a thread, so that no pattern holds the worker.
import { answerQuestions, areCheap, toQuestions, type Judge } from '../../graph/judge.js';
import { NodeError } from '../../graph/node-error.js';
import { ProcessesBusyError, type Processes } from '../../processes/processes.js';
import { questionsWork } from '../../processes/work.js';
import { handedBack } from '../node/failures.js';
import type { NodeTask } from '../node/node-step.js';

/**
 * The number of steps bounds what a node takes; this bounds what they do not count. It is far above what any node takes
 * on a busy machine, and below the time-out of the activity.
 */
const LIMIT_MS = 20_000;
/** Nodes of a project whose conditions wait for a thread. Each holds a slot of the worker; further ones come back later. */
const MAX_WAITING = 8;

/** The conditions of a node are judged in the name of its project. */
export type JudgeFor = (task: NodeTask) => Judge;

export function createJudge(processes: Processes): JudgeFor {
  return ({ run: { projectId }, signal }) =>
    async (conditions, values, mode) => {
      const questions = toQuestions(conditions, values);
      if (areCheap(questions)) return answerQuestions(questions, mode);
      const options = { owner: projectId, signal, limitMs: LIMIT_MS, maxWaiting: MAX_WAITING };
      const reply = await processes.run(questionsWork(questions, mode), options).catch((error: unknown) => {
        throw error instanceof ProcessesBusyError ? handedBack() : error;
      });
      if (reply?.kind === 'held') return reply.held;
      if (reply?.kind === 'failed') throw new NodeError(reply.code, reply.message);
      throw questions.some(({ operator }) => operator === 'matches')
        ? new NodeError('invalid_pattern', 'The patterns of the node take too much time or memory.')
        : new NodeError('rendered_too_large', 'The conditions of the node take too much time or memory.');
    };
}
