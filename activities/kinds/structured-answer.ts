// Checks a model's answer against the `response_format` of the LLM node or agent that has asked the model.
import { setTimeout as pause } from 'node:timers/promises';
import { isObject } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';
import { invalidFormat, readAnswer, type AnswerForm, type CheckedAnswer } from '../../graph/response-format.js';
import { untilAborted } from '../../outgoing/until-aborted.js';
import { ProcessesBusyError, type Processes } from '../../processes/processes.js';
import { handedBack } from '../node/failures.js';

/** Schemas within the size limit compile within two seconds. */
const CHECK_WITHIN_MS = 10_000;
/**
 * A check is repeated for about half a minute while no process can be started. A node makes up to three checks within
 * its time limit (`NODE_LIMIT` in temporal-workflows/activity-options.ts).
 */
const PATIENCE = { repeats: 30, pauseMs: 1_000 };

export interface FormChecker {
  /**
   * Throws, as `check` does, for a form that cannot be checked. Call this before an answer is paid for. Throws
   * `handedBack` if no process could be started.
   */
  prepare(form: AnswerForm, asked: Asked): Promise<void>;
  /**
   * Reads an answer as JSON and checks it against `form`. Returns the JSON with numbers as they were written, or a
   * problem in words that can be sent to the model. Throws a `NodeError` with the code `invalid_response_format` for a
   * schema that cannot be compiled, and if the check takes longer than ten seconds or too much memory. If no process
   * can be started, repeats the check, because another attempt might have to pay for the answer again, and throws a
   * `ProcessesBusyError` after about half a minute.
   */
  check(content: string, form: AnswerForm, asked: Asked): Promise<CheckedAnswer>;
}

export interface Asked {
  projectId: number;
  /** Ends the check with the reason of the abort. */
  signal: AbortSignal;
}

export function createFormChecker(processes: Processes, { repeats, pauseMs } = PATIENCE): FormChecker {
  async function problemOf(schema: object, value: string | undefined, asked: Asked): Promise<string | undefined> {
    const work = { kind: 'schema', schema: writeJson(schema), ...(value !== undefined && { value }) } as const;
    const { projectId: owner, signal } = asked;
    const reply = await processes.run(work, { owner, signal, limitMs: CHECK_WITHIN_MS });
    if (reply?.kind === 'checked') return reply.problem;
    if (reply?.kind === 'unusable') throw invalidFormat(reply.reason);
    throw invalidFormat('to check an answer against the schema takes too long');
  }

  async function patientProblemOf(schema: object, value: string, asked: Asked): Promise<string | undefined> {
    for (let left = repeats; ; left -= 1) {
      try {
        return await problemOf(schema, value, asked);
      } catch (error) {
        if (!(error instanceof ProcessesBusyError) || left === 0) throw error;
      }
      await untilAborted(pause(pauseMs), asked.signal);
    }
  }

  return {
    async prepare({ schema }, asked) {
      if (schema === undefined) return;
      await problemOf(schema, undefined, asked).catch((error: unknown) => {
        throw error instanceof ProcessesBusyError ? handedBack() : error;
      });
    },
    async check(content, { schema }, asked) {
      const answer = readAnswer(content);
      if ('problem' in answer) return answer;
      if (schema === undefined) return isObject(answer.json) ? answer : { problem: 'it is not a JSON object' };
      const problem = await patientProblemOf(schema, writeJson(answer.json), asked);
      return problem === undefined ? answer : { problem };
    },
  };
}
