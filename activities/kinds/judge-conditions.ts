// Evaluates the conditions of a node: directly if that is cheap, else in a separate process, so that no pattern blocks
// the worker.
import { eachOf } from '../../graph/combined.js';
import { answerQuestions, areCheap, toQuestions, type Judge } from '../../graph/judge.js';
import { NodeError } from '../../graph/node-error.js';
import { ProcessesBusyError, type Processes } from '../../processes/processes.js';
import { questionsWork } from '../../processes/work.js';
import { handedBack } from '../node/failures.js';
import type { NodeTask } from '../node/node-step.js';

/**
 * A limit on steps bounds the evaluation; this time limit bounds the work that steps do not count. It is far above the
 * longest evaluation on a busy machine, and below the time-out of the activity.
 */
const LIMIT_MS = 20_000;
/**
 * The limit on the nodes of a project whose conditions wait for a process. Each holds a slot of the worker, so further
 * nodes are handed back.
 */
const MAX_WAITING = 8;

/** Returns the judge for a node. The judge competes for processes on behalf of the node's project. */
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
      throw questions.flatMap(eachOf).some(({ operator }) => operator === 'matches')
        ? new NodeError('invalid_pattern', 'The patterns of the node take too much time or memory.')
        : new NodeError('rendered_too_large', 'The conditions of the node take too much time or memory.');
    };
}
