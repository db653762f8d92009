// Checks what a model says against `response_format`: for LLM nodes, and for whoever else asks a model for JSON.
import { isObject } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';
import { invalidFormat, readAnswer, type AnswerForm, type CheckedAnswer } from '../../graph/response-format.js';
import type { Processes } from '../../processes/processes.js';

/** Schemas of a legal size compile within two seconds. */
const CHECK_WITHIN_MS = 10_000;

/** Checks answers against the form that they must have. */
export interface FormChecker {
  /** Throws, as `check` does, for a form by which nothing can be checked: before anybody pays for an answer. */
  prepare(form: AnswerForm, asked: Asked): Promise<void>;
  /**
   * Reads an answer as JSON and checks it against its form. Returns the JSON, in which
   * numbers are as they were written, or what is wrong with it in words that the model can be told. Throws a `NodeError`
   * with the code `invalid_response_format` for a schema that cannot be compiled, or not checked within ten seconds.
   */
  check(content: string, form: AnswerForm, asked: Asked): Promise<CheckedAnswer>;
}

export interface Asked {
  projectId: number;
  /** Aborting it ends the check with its reason. */
  signal: AbortSignal;
}

export function createFormChecker(processes: Processes): FormChecker {
  async function problemOf(schema: object, value: string | undefined, asked: Asked): Promise<string | undefined> {
    const work = { kind: 'schema', schema: writeJson(schema), ...(value !== undefined && { value }) } as const;
    const { projectId: owner, signal } = asked;
    const reply = await processes.run(work, { owner, signal, limitMs: CHECK_WITHIN_MS });
    if (reply?.kind === 'checked') return reply.problem;
    if (reply?.kind === 'unusable') throw invalidFormat(reply.reason);
    throw invalidFormat('to check an answer against the schema takes too long');
  }

  return {
    async prepare({ schema }, asked) {
      if (schema !== undefined) await problemOf(schema, undefined, asked);
    },
    async check(content, { schema }, asked) {
      const answer = readAnswer(content);
      if ('problem' in answer) return answer;
      if (schema === undefined) return isObject(answer.json) ? answer : { problem: 'it is not a JSON object' };
      const problem = await problemOf(schema, writeJson(answer.json), asked);
      return problem === undefined ? answer : { problem };
    },
  };
}
